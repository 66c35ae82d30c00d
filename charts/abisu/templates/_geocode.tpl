{{/* What is geocode's own in its pod. */}}

{{- define "abisu.env.geocode" -}}
- name: ABISU_GEOCODER
  value: {{ .values.provider }}
{{- with .values.fallback }}
- name: ABISU_GEOCODER_FALLBACK
  value: {{ join "," . }}
{{- end }}
{{- range $provider := list "cartociudad" "nominatim" "photon" }}
{{- with index $.values $provider }}
{{- with .url }}
- name: ABISU_{{ upper $provider }}_URL
  value: {{ . | quote }}
{{- end }}
- name: ABISU_{{ upper $provider }}_RATE
  value: {{ .rate | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "abisu.volumes.geocode" -}}
{{- end -}}

{{- define "abisu.mounts.geocode" -}}
{{- end -}}

{{- define "abisu.config.geocode" -}}
{{ include "abisu.city.data" .root }}
{{- end -}}
