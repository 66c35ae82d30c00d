{{/* What is conversation's own in its pod. */}}

{{- define "abisu.env.conversation" -}}
- name: ABISU_GEOCODE_URL
  value: http://{{ include "abisu.name" (list .root "geocode") }}:50051
- name: ABISU_LOOKUP_TIMEOUT_MS
  value: {{ .values.lookupTimeoutMs | quote }}
- name: ABISU_SEND_TIMEOUT_MS
  value: {{ .values.sendTimeoutMs | quote }}
- name: ABISU_WORKERS
  value: {{ .values.workers | quote }}
- name: ABISU_SENDS_PER_SECOND
  value: {{ .values.sendsPerSecond | quote }}
- name: ABISU_MARK_READ
  value: {{ .values.markRead | quote }}
{{- if .root.Values.whatsapp.enabled }}
- name: ABISU_META_GRAPH_URL
  value: {{ .root.Values.whatsapp.graphUrl | quote }}
- name: ABISU_META_GRAPH_VERSION
  value: {{ .root.Values.whatsapp.graphVersion | quote }}
- name: ABISU_META_PHONE_NUMBER_ID
  value: {{ .root.Values.whatsapp.phoneNumberId | quote }}
- name: ABISU_META_ACCESS_TOKEN_FILE
  value: /etc/abisu/whatsapp/access-token
{{- end }}
{{ include "abisu.city.env" .root | trim }}
- name: ABISU_CITY_TIME_ZONE
  value: {{ .root.Values.city.timeZone | quote }}
{{- end -}}

{{- define "abisu.volumes.conversation" -}}
{{- if .root.Values.whatsapp.enabled -}}
{{ include "abisu.whatsapp.volume" (dict "root" .root "keys" (dict "accessToken" "access-token")) }}
{{- end }}
{{ include "abisu.city.volumes" .root | trim }}
{{- end -}}

{{- define "abisu.mounts.conversation" -}}
{{- if .root.Values.whatsapp.enabled -}}
{{ include "abisu.whatsapp.mount" .root }}
{{- end }}
{{ include "abisu.city.mounts" .root | trim }}
{{- end -}}

{{- define "abisu.config.conversation" -}}
{{ .root.Values.city.taxonomy }}{{ with .root.Values.city.catalogs }}{{ toJson . }}{{ end -}}
{{- end -}}
