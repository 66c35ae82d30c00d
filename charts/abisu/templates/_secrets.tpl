{{/* Where each credential is. A pod mounts the keys that it needs, as files, and no others. */}}

{{/* The Secret of a role's URL. Takes a list: root, role. */}}
{{- define "abisu.database.secret" -}}
{{- $root := first . -}}
{{- $credential := index $root.Values.database.credentials (last .) -}}
{{- default (include "abisu.name" (list $root "database")) (default $root.Values.database.existingSecret $credential.existingSecret) -}}
{{- end -}}

{{/* Whether the chart makes the Secret of a role. Takes a list: root, role. */}}
{{- define "abisu.database.made" -}}
{{- $root := first . -}}
{{- $credential := index $root.Values.database.credentials (last .) -}}
{{- if not (or $root.Values.database.existingSecret $credential.existingSecret) }}true{{ end -}}
{{- end -}}

{{/* The volumes with a role's URL and the authority of the server. Takes a list: root, role. */}}
{{- define "abisu.database.volumes" -}}
- name: database
  secret:
    secretName: {{ include "abisu.database.secret" . }}
    items:
      - key: {{ (index (first .).Values.database.credentials (last .)).key }}
        path: url
{{- with (first .).Values.database.ca }}
{{- if .existingSecret }}
- name: database-ca
  secret:
    secretName: {{ .existingSecret }}
    items:
      - key: {{ .key }}
        path: ca.crt
{{- end }}
{{- end }}
{{- end -}}

{{/* Takes the root. */}}
{{- define "abisu.database.mounts" -}}
- name: database
  mountPath: /etc/abisu/database
  readOnly: true
{{- if .Values.database.ca.existingSecret }}
- name: database-ca
  mountPath: /etc/abisu/database-ca
  readOnly: true
{{- end }}
{{- end -}}

{{/* Takes the root. What a URL says itself is stronger than the last two. */}}
{{- define "abisu.database.env" -}}
- name: ABISU_DATABASE_URL_FILE
  value: /etc/abisu/database/url
{{- if .Values.database.ca.existingSecret }}
- name: PGSSLROOTCERT
  value: /etc/abisu/database-ca/ca.crt
- name: PGSSLMODE
  value: verify-full
{{- end }}
{{- end -}}

{{- define "abisu.whatsapp.secret" -}}
{{- default (include "abisu.name" (list . "whatsapp")) .Values.whatsapp.existingSecret -}}
{{- end -}}

{{- define "abisu.partner.secret" -}}
{{- default (include "abisu.name" (list . "partner")) .Values.partner.existingSecret -}}
{{- end -}}

{{/* What links to photos are signed with, where there are links. */}}
{{- define "abisu.media.volume" -}}
{{- if .Values.media.url }}
- name: media
  secret:
    secretName: {{ default (include "abisu.name" (list . "media")) .Values.media.existingSecret }}
    items:
      - key: {{ .Values.media.keys.secret }}
        path: secret
{{- end }}
{{- end -}}

{{- define "abisu.media.mount" -}}
{{- if .Values.media.url }}
- name: media
  mountPath: /etc/abisu/media
  readOnly: true
{{- end }}
{{- end -}}

{{- define "abisu.media.env" -}}
{{- if .Values.media.url }}
- name: ABISU_MEDIA_SECRET_FILE
  value: /etc/abisu/media/secret
{{- end }}
{{- end -}}

{{- define "abisu.channels.configMap" -}}
{{- default (include "abisu.name" (list . "channels")) .Values.channels.existingConfigMap -}}
{{- end -}}

{{/* Whether the number of `whatsapp` is in force. */}}
{{- define "abisu.whatsapp.on" -}}
{{- if and .Values.whatsapp.enabled (not .Values.channels.existingConfigMap) }}true{{ end -}}
{{- end -}}

{{/*
A whole channels file, the same for ingest and conversation: each reads only the secrets that it needs, and only those
are mounted. Everything secret in it is a reference to a file.
*/}}
{{- define "abisu.channels.file" -}}
{{- $channels := list -}}
{{- with .Values.whatsapp -}}
{{- if .enabled -}}
{{- $secrets := list (dict "file" "/etc/abisu/whatsapp/app-secret") -}}
{{- if .keys.appSecretNext -}}
{{- $secrets = append $secrets (dict "file" "/etc/abisu/whatsapp/app-secret-next") -}}
{{- end -}}
{{- $number := dict "id" .channel "kind" "whatsapp_meta" "default" true "phone_number_id" .phoneNumberId
  "graph_url" .graphUrl "graph_version" .graphVersion "app_secrets" $secrets
  "verify_token" (dict "file" "/etc/abisu/whatsapp/verify-token")
  "access_token" (dict "file" "/etc/abisu/whatsapp/access-token") -}}
{{- if .businessAccountId -}}
{{- $_ := set $number "waba_id" .businessAccountId -}}
{{- end -}}
{{- with .testNumbers -}}
{{- $_ := set $number "test_numbers" . -}}
{{- end -}}
{{- $channels = append $channels $number -}}
{{- end -}}
{{- end -}}
{{- if include "abisu.synthetic.on" . -}}
{{- $secrets := list (dict "file" "/etc/abisu/synthetic/secret") -}}
{{- $channels = append $channels (dict "id" "synthetic" "kind" "synthetic" "secrets" $secrets) -}}
{{- end -}}
{{- toYaml (dict "channels" (concat $channels .Values.channels.extra)) -}}
{{- end -}}

{{/* The volume with the secrets of the number. Takes a dict: root, keys (file by key of the values). */}}
{{- define "abisu.whatsapp.volume" -}}
{{- $keys := .root.Values.whatsapp.keys -}}
- name: whatsapp
  secret:
    secretName: {{ include "abisu.whatsapp.secret" .root }}
    items:
      {{- range $key, $file := .keys }}
      {{- with index $keys $key }}
      - key: {{ . }}
        path: {{ $file }}
      {{- end }}
      {{- end }}
{{- end -}}

{{/* Whether the built-in channel for tests is there: with a secret of its own, or with the app secret of the number. */}}
{{- define "abisu.synthetic.on" -}}
{{- $tests := .Values.tests -}}
{{- if and $tests.enabled $tests.synthetic (or $tests.existingSecret (include "abisu.whatsapp.on" .)) }}true{{ end -}}
{{- end -}}

{{- define "abisu.synthetic.volume" -}}
{{- if include "abisu.synthetic.on" . }}
- name: synthetic
  secret:
    secretName: {{ default (include "abisu.whatsapp.secret" .) .Values.tests.existingSecret }}
    items:
      - key: {{ ternary .Values.tests.keys.secret .Values.whatsapp.keys.appSecret (ne .Values.tests.existingSecret "") }}
        path: secret
{{- end }}
{{- end -}}

{{- define "abisu.synthetic.mount" -}}
{{- if include "abisu.synthetic.on" . }}
- name: synthetic
  mountPath: /etc/abisu/synthetic
  readOnly: true
{{- end }}
{{- end -}}

{{/* The volume of the channels file, and of the secrets of `channels`. Takes a dict: root, secrets (whether those too). */}}
{{- define "abisu.channels.volumes" -}}
- name: channels
  configMap:
    name: {{ include "abisu.channels.configMap" .root }}
{{- if and .secrets .root.Values.channels.existingSecret }}
- name: channel-secrets
  secret:
    secretName: {{ .root.Values.channels.existingSecret }}
{{- end }}
{{- end -}}

{{/* Takes the same. */}}
{{- define "abisu.channels.mounts" -}}
- name: channels
  mountPath: /etc/abisu/channels
  readOnly: true
{{- if and .secrets .root.Values.channels.existingSecret }}
- name: channel-secrets
  mountPath: /etc/abisu/channel-secrets
  readOnly: true
{{- end }}
{{- end -}}

{{- define "abisu.channels.env" -}}
- name: ABISU_CHANNELS_FILE
  value: /etc/abisu/channels/channels.yaml
{{- end -}}

{{/* What of the channels is the chart's own, so that a change of it must be noticed. */}}
{{- define "abisu.channels.config" -}}
{{- if not .Values.channels.existingConfigMap }}{{ include "abisu.channels.file" . }}{{ end -}}
{{- end -}}

{{- define "abisu.whatsapp.mount" -}}
- name: whatsapp
  mountPath: /etc/abisu/whatsapp
  readOnly: true
{{- end -}}

{{/* Volumes with what the city has of its own: taxonomy and catalogs. */}}
{{- define "abisu.city.volumes" -}}
{{- if or .Values.city.taxonomy .Values.city.existingTaxonomy }}
- name: taxonomy
  configMap:
    name: {{ default (include "abisu.name" (list . "taxonomy")) .Values.city.existingTaxonomy }}
    items:
      - key: taxonomy.yaml
        path: report/taxonomy.yaml
{{- end }}
{{- if or .Values.city.catalogs .Values.city.existingCatalogs }}
- name: catalogs
  configMap:
    name: {{ default (include "abisu.name" (list . "catalogs")) .Values.city.existingCatalogs }}
{{- end }}
{{- end -}}

{{- define "abisu.city.mounts" -}}
{{- if or .Values.city.taxonomy .Values.city.existingTaxonomy }}
- name: taxonomy
  mountPath: /etc/abisu/flows
  readOnly: true
{{- end }}
{{- if or .Values.city.catalogs .Values.city.existingCatalogs }}
- name: catalogs
  mountPath: /etc/abisu/catalogs
  readOnly: true
{{- end }}
{{- end -}}

{{- define "abisu.city.env" -}}
{{- if or .Values.city.taxonomy .Values.city.existingTaxonomy }}
- name: ABISU_FLOWS_DIR
  value: /etc/abisu/flows
{{- end }}
{{- if or .Values.city.catalogs .Values.city.existingCatalogs }}
- name: ABISU_CATALOGS_DIR
  value: /etc/abisu/catalogs
{{- end }}
{{- end -}}
