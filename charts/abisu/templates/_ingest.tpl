{{/* What is ingest's own in its pod: variables, volumes, mounts, and the text that a change of must restart it. */}}

{{- define "abisu.env.ingest" -}}
- name: ABISU_MOST_CONNECTIONS
  value: {{ .values.mostConnections | quote }}
- name: ABISU_CHANNELS_FILE
  value: /etc/abisu/channels/channels.yaml
{{ include "abisu.media.env" .root | trim }}
{{- end -}}

{{- define "abisu.volumes.ingest" -}}
- name: channels
  configMap:
    name: {{ include "abisu.channels.configMap" .root }}
{{ if .root.Values.whatsapp.enabled -}}
{{ include "abisu.whatsapp.volume" (dict "root" .root "keys" (dict "appSecret" "app-secret" "appSecretNext" "app-secret-next" "verifyToken" "verify-token")) }}
{{- end }}
{{- with .root.Values.channels.existingSecret }}
- name: channel-secrets
  secret:
    secretName: {{ . }}
{{- end }}
{{ include "abisu.media.volume" .root | trim }}
{{- end -}}

{{- define "abisu.mounts.ingest" -}}
- name: channels
  mountPath: /etc/abisu/channels
  readOnly: true
{{- if .root.Values.whatsapp.enabled }}
{{ include "abisu.whatsapp.mount" .root }}
{{- end }}
{{- if .root.Values.channels.existingSecret }}
- name: channel-secrets
  mountPath: /etc/abisu/channel-secrets
  readOnly: true
{{- end }}
{{ include "abisu.media.mount" .root | trim }}
{{- end -}}

{{- define "abisu.config.ingest" -}}
{{- if not .root.Values.channels.existingConfigMap }}{{ include "abisu.channels.file" .root }}{{ end -}}
{{- end -}}
