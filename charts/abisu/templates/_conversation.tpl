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
{{ include "abisu.channels.env" .root }}
{{ include "abisu.city.env" .root | trim }}
{{- end -}}

{{- define "abisu.volumes.conversation" -}}
{{ include "abisu.channels.volumes" (dict "root" .root "secrets" true) }}
{{- if .root.Values.whatsapp.enabled }}
{{ include "abisu.whatsapp.volume" (dict "root" .root "keys" (dict "accessToken" "access-token")) }}
{{- end }}
{{ include "abisu.city.volumes" .root | trim }}
{{- end -}}

{{- define "abisu.mounts.conversation" -}}
{{ include "abisu.channels.mounts" (dict "root" .root "secrets" true) }}
{{- if .root.Values.whatsapp.enabled }}
{{ include "abisu.whatsapp.mount" .root }}
{{- end }}
{{ include "abisu.city.mounts" .root | trim }}
{{- end -}}

{{- define "abisu.config.conversation" -}}
{{ include "abisu.channels.config" .root }}{{ include "abisu.config.city" .root }}{{ include "abisu.city.data" .root }}
{{- end -}}

{{/* What a city is called. Takes the root. */}}
{{- define "abisu.city.data" -}}
{{- if not .Values.city.existingConfigMap -}}
ABISU_CITY_NAME: {{ .Values.city.name | quote }}
ABISU_CITY_INE_CODE: {{ .Values.city.ineCode | quote }}
ABISU_CITY_PROVINCE_CODE: {{ .Values.city.provinceCode | quote }}
ABISU_CITY_TIME_ZONE: {{ .Values.city.timeZone | quote }}
{{- end -}}
{{- end -}}

{{/* Taxonomy and catalogs, where the chart has them. Takes the root. */}}
{{- define "abisu.config.city" -}}
{{ .Values.city.taxonomy }}{{ with .Values.city.catalogs }}{{ toJson . }}{{ end -}}
{{- end -}}
