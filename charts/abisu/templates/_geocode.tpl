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
- name: ABISU_CITY_NAME
  value: {{ .root.Values.city.name | quote }}
- name: ABISU_CITY_INE_CODE
  value: {{ .root.Values.city.ineCode | quote }}
- name: ABISU_CITY_PROVINCE_CODE
  value: {{ .root.Values.city.provinceCode | quote }}
{{- end -}}

{{- define "abisu.volumes.geocode" -}}
{{- end -}}

{{- define "abisu.mounts.geocode" -}}
{{- end -}}

{{- define "abisu.config.geocode" -}}
{{- end -}}
