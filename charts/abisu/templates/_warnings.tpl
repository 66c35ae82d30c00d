{{/* What works and is not safe, one line each. */}}
{{- define "abisu.warnings" -}}
{{- $lines := list -}}
{{- range $role, $credential := .Values.database.credentials -}}
{{- if and $credential.url (include "abisu.database.made" (list $ $role)) -}}
{{- $lines = append $lines (printf "database.credentials.%s.url: a password stands in the release; use an existingSecret" $role) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.whatsapp.enabled (not .Values.whatsapp.existingSecret) -}}
{{- $lines = append $lines "whatsapp: its secrets stand in the release; use whatsapp.existingSecret" -}}
{{- end -}}
{{- if and .Values.partner.enabled (not .Values.partner.existingSecret) -}}
{{- $lines = append $lines "partner.password: a password stands in the release; use partner.existingSecret" -}}
{{- end -}}
{{- if and .Values.media.url (not .Values.media.existingSecret) -}}
{{- $lines = append $lines "media.secret: a secret stands in the release; use media.existingSecret" -}}
{{- end -}}
{{- range $key, $component := include "abisu.services" . | fromJson -}}
{{- $values := include "abisu.service" (list $ $key) | fromYaml -}}
{{- if lt (include "abisu.leastPods" (dict "root" $ "key" $key "values" $values) | int) 2 -}}
{{- $lines = append $lines (printf "%s: one pod; while it moves nobody does its work" $key) -}}
{{- end -}}
{{- if not $values.pdb.enabled -}}
{{- $lines = append $lines (printf "%s.pdb.enabled: off; a drain may take all pods at once" $key) -}}
{{- end -}}
{{- end -}}
{{- if not .Values.networkPolicy.enabled -}}
{{- $lines = append $lines "networkPolicy.enabled: off; every pod may be reached and may reach everything" -}}
{{- else -}}
{{- if not .Values.networkPolicy.database -}}
{{- $lines = append $lines (printf "networkPolicy.database: empty; pods may reach port %d anywhere" (int .Values.database.port)) -}}
{{- end -}}
{{- if not .Values.networkPolicy.webhooks -}}
{{- $lines = append $lines "networkPolicy.webhooks: empty; every pod of the cluster may call ingest (signatures are still checked)" -}}
{{- end -}}
{{- end -}}
{{- if not .Values.database.connections.max -}}
{{- $lines = append $lines "database.connections.max: 0; whether the connections suffice was not checked" -}}
{{- end -}}
{{- if not .Values.purge.enabled -}}
{{- $lines = append $lines "purge.enabled: off; raw deliveries stay until somebody runs `abisu queue purge`" -}}
{{- end -}}
{{- if not .Values.partner.enabled -}}
{{- $lines = append $lines "partner.enabled: off; reports wait, nothing reaches the contractor" -}}
{{- end -}}
{{- range .Values.channels.extra -}}
{{- if not (has .id (splitList "," $.Values.partner.channel)) -}}
{{- $lines = append $lines (printf "channels.extra: reports of %s stay in the outbox; partner.channel has only %s" .id $.Values.partner.channel) -}}
{{- end -}}
{{- end -}}
{{- range .Values.channels.extra -}}
{{- if and $.Values.flows.publish (eq .kind "whatsapp_meta") (not (index . "waba_id")) -}}
{{- $lines = append $lines (printf "channels.extra: %s has no waba_id, so no forms are published for it" .id) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingest.ingress.enabled (not .Values.ingest.ingress.tlsSecret) -}}
{{- $lines = append $lines "ingest.ingress.tlsSecret: empty; Meta only calls HTTPS, so something else must end TLS" -}}
{{- end -}}
{{- if and (ne (toString .Values.image.tag) "") (eq (toString .Values.image.tag) "latest") -}}
{{- $lines = append $lines "image.tag: latest says nothing about what runs" -}}
{{- end -}}
{{- with $lines }}
Warnings:
{{- range . }}
  ! {{ . }}
{{- end }}
{{- end }}
{{- end -}}
