{{/* What is ingest's own in its pod: variables, volumes, mounts, and the text that a change of must restart it. */}}

{{- define "abisu.env.ingest" -}}
- name: ABISU_MOST_CONNECTIONS
  value: {{ .values.mostConnections | quote }}
{{ include "abisu.channels.env" .root }}
{{ include "abisu.media.env" .root | trim }}
{{- end -}}

{{- define "abisu.volumes.ingest" -}}
{{ include "abisu.channels.volumes" (dict "root" .root "secrets" true) }}
{{- if .root.Values.whatsapp.enabled }}
{{ include "abisu.whatsapp.volume" (dict "root" .root "keys" (dict "appSecret" "app-secret" "appSecretNext" "app-secret-next" "verifyToken" "verify-token")) }}
{{- end }}
{{ include "abisu.synthetic.volume" .root | trim }}
{{ include "abisu.media.volume" .root | trim }}
{{- end -}}

{{- define "abisu.mounts.ingest" -}}
{{ include "abisu.channels.mounts" (dict "root" .root "secrets" true) }}
{{- if .root.Values.whatsapp.enabled }}
{{ include "abisu.whatsapp.mount" .root }}
{{- end }}
{{ include "abisu.synthetic.mount" .root | trim }}
{{ include "abisu.media.mount" .root | trim }}
{{- end -}}

{{- define "abisu.config.ingest" -}}
{{ include "abisu.channels.config" .root }}
{{- end -}}
