{{/* What is partner-push's own in its pod. */}}

{{- define "abisu.partner.hasPlatform" -}}
{{- if or .Values.partner.platform .Values.partner.existingPlatform }}true{{ end -}}
{{- end -}}

{{- define "abisu.env.partner" -}}
{{- with .Values.partner.url }}
- name: ABISU_PARTNER_URL
  value: {{ . | quote }}
{{- end }}
{{- with .Values.partner.user }}
- name: ABISU_PARTNER_USER
  value: {{ . | quote }}
{{- end }}
{{- if .Values.partner.enabled }}
- name: ABISU_PARTNER_PASSWORD_FILE
  value: /etc/abisu/partner/password
{{- end }}
{{- if include "abisu.partner.hasPlatform" . }}
- name: ABISU_PARTNER_PLATFORM_FILE
  value: /etc/abisu/platform/platform.yaml
{{- end }}
- name: ABISU_PARTNER_SEARCH
  value: {{ .Values.partner.search | quote }}
{{- end -}}

{{- define "abisu.env.partnerPush" -}}
- name: ABISU_CHANNEL
  value: {{ .root.Values.partner.channel | quote }}
- name: ABISU_PARTNER_ENABLED
  value: {{ .root.Values.partner.enabled | quote }}
{{ include "abisu.env.partner" .root | trim }}
- name: ABISU_PARTNER_PARALLEL
  value: {{ .values.parallel | quote }}
- name: ABISU_PARTNER_SEND_TIMEOUT_MS
  value: {{ .values.sendTimeoutMs | quote }}
- name: ABISU_PARTNER_LOGIN_TIMEOUT_MS
  value: {{ .values.loginTimeoutMs | quote }}
- name: ABISU_PARTNER_DRAIN_RATE
  value: {{ .values.drainRate | quote }}
{{ include "abisu.media.env" .root | trim }}
{{- with .root.Values.media.url }}
- name: ABISU_MEDIA_URL
  value: {{ . | quote }}
- name: ABISU_MEDIA_LIFETIME
  value: {{ $.root.Values.media.lifetime }}
{{- end }}
{{ include "abisu.city.env" .root | trim }}
{{- end -}}

{{- define "abisu.volumes.partnerPush" -}}
{{- if .root.Values.partner.enabled }}
- name: partner
  secret:
    secretName: {{ include "abisu.partner.secret" .root }}
    items:
      - key: {{ .root.Values.partner.keys.password }}
        path: password
{{- end }}
{{- if include "abisu.partner.hasPlatform" .root }}
- name: platform
  configMap:
    name: {{ default (include "abisu.name" (list .root "platform")) .root.Values.partner.existingPlatform }}
{{- end }}
{{ include "abisu.media.volume" .root | trim }}
{{ include "abisu.city.volumes" .root | trim }}
{{- end -}}

{{- define "abisu.mounts.partnerPush" -}}
{{- if .root.Values.partner.enabled }}
- name: partner
  mountPath: /etc/abisu/partner
  readOnly: true
{{- end }}
{{- if include "abisu.partner.hasPlatform" .root }}
- name: platform
  mountPath: /etc/abisu/platform
  readOnly: true
{{- end }}
{{ include "abisu.media.mount" .root | trim }}
{{ include "abisu.city.mounts" .root | trim }}
{{- end -}}

{{- define "abisu.config.partnerPush" -}}
{{ with .root.Values.partner.platform }}{{ toJson . }}{{ end }}{{ include "abisu.config.city" .root }}
{{- end -}}
