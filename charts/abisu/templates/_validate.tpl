{{/* What the schema cannot see: values that need each other. The message names the value and what to do. */}}

{{- define "abisu.refuse" -}}
{{- fail (printf "\n\n%s\n" .) -}}
{{- end -}}

{{- define "abisu.validate" -}}
{{- include "abisu.validate.channels" . -}}
{{- include "abisu.validate.database" . -}}
{{- include "abisu.validate.partner" . -}}
{{- include "abisu.validate.media" . -}}
{{- include "abisu.validate.city" . -}}
{{- range $key, $component := include "abisu.services" . | fromJson -}}
{{- $values := include "abisu.service" (list $ $key) | fromYaml -}}
{{- include "abisu.validate.service" (dict "root" $ "key" $key "values" $values) -}}
{{- end -}}
{{- include "abisu.validate.timing" . -}}
{{- include "abisu.validate.door" . -}}
{{- $budget := include "abisu.budget" . | fromJson -}}
{{- if and $budget.max (gt (int $budget.sum) (int $budget.max)) -}}
{{- include "abisu.refuse" (printf "database.connections.max: the database allows %d connections, and all replicas together could open more: %s. Raise max_connections of the server and this value, or lower replicas, autoscaling.maxReplicas or databasePool." (int $budget.max) $budget.text) -}}
{{- end -}}
{{- end -}}

{{- define "abisu.validate.channels" -}}
{{- $whatsapp := .Values.whatsapp -}}
{{- if include "abisu.whatsapp.on" . -}}
{{- if not $whatsapp.phoneNumberId -}}
{{- include "abisu.refuse" "whatsapp.phoneNumberId: not set; it is the number's id (not its digits) in Meta's dashboard. Without a number of Meta's: whatsapp.enabled=false" -}}
{{- end -}}
{{- if and .Values.flows.publish (not $whatsapp.businessAccountId) -}}
{{- include "abisu.refuse" "whatsapp.businessAccountId: not set; forms are published in that account. To publish them yourself: flows.publish=false" -}}
{{- end -}}
{{- end -}}
{{- if and $whatsapp.enabled (not $whatsapp.existingSecret) -}}
{{- range $name := list "appSecret" "verifyToken" "accessToken" -}}
{{- if not (index $whatsapp $name) -}}
{{- include "abisu.refuse" (printf "whatsapp.existingSecret: not set; name a Secret with the keys %s, %s and %s (or, for a trial, set whatsapp.%s)" $whatsapp.keys.appSecret $whatsapp.keys.verifyToken $whatsapp.keys.accessToken $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not (or $whatsapp.enabled .Values.channels.extra .Values.channels.existingConfigMap) -}}
{{- include "abisu.refuse" "channels.extra: empty, and whatsapp.enabled is false: there would be no channel" -}}
{{- end -}}
{{- $ids := list -}}
{{- if $whatsapp.enabled -}}{{- $ids = append $ids $whatsapp.channel -}}{{- end -}}
{{- if include "abisu.synthetic.on" . -}}{{- $ids = append $ids "synthetic" -}}{{- end -}}
{{- range .Values.channels.extra -}}
{{- if has .id $ids -}}
{{- include "abisu.refuse" (printf "channels.extra: two channels have the id %q" .id) -}}
{{- end -}}
{{- $ids = append $ids .id -}}
{{- end -}}
{{- end -}}

{{- define "abisu.validate.database" -}}
{{- $needed := list "ingest" "conversation" "geocode" "partnerPush" -}}
{{- if or (ne .Values.migrations.mode "external") .Values.flows.publish .Values.purge.enabled .Values.tests.enabled .Values.city.serviceArea.files .Values.city.serviceArea.keys -}}
{{- $needed = prepend $needed "owner" -}}
{{- end -}}
{{- if (include "abisu.kedaKeys" . | fromJson).keys -}}
{{- $needed = append $needed "metrics" -}}
{{- end -}}
{{- range $role := $needed -}}
{{- if and (include "abisu.database.made" (list $ $role)) (not (index $.Values.database.credentials $role).url) -}}
{{- include "abisu.refuse" (printf "database.existingSecret: not set; name a Secret that has the role's URL under the key %s (or set database.credentials.%s.existingSecret, or, for a trial, .url)" (index $.Values.database.credentials $role).key $role) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "abisu.validate.partner" -}}
{{- with .Values.partner -}}
{{- if .enabled -}}
{{- if not .url -}}
{{- include "abisu.refuse" "partner.url: not set, but partner.enabled is true" -}}
{{- end -}}
{{- /* An Open311 endpoint knows no users; what an existing file says cannot be seen from here. */ -}}
{{- if not (or .user .existingPlatform (eq (default "" .platform.adapter) "open311")) -}}
{{- include "abisu.refuse" "partner.user: not set, but partner.enabled is true" -}}
{{- end -}}
{{- if not (or .existingSecret .password) -}}
{{- include "abisu.refuse" (printf "partner.existingSecret: not set; name a Secret with the key %s (or, for a trial, set partner.password)" .keys.password) -}}
{{- end -}}
{{- end -}}
{{- $photos := dig "open311" "photos" true .platform -}}
{{- if and (eq (default "" .platform.adapter) "open311") $photos (not $.Values.media.url) -}}
{{- include "abisu.refuse" "media.url: not set, but an Open311 platform fetches photos by link; where it takes none, say photos: false under partner.platform.open311" -}}
{{- end -}}
{{- if regexMatch "^https?://[^/]*@" .url -}}
{{- include "abisu.refuse" "partner.url: must have no user and password in it" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "abisu.validate.media" -}}
{{- with .Values.media -}}
{{- if and .url (not (or .existingSecret .secret)) -}}
{{- include "abisu.refuse" (printf "media.existingSecret: not set; name a Secret with the key %s (or, for a trial, set media.secret)" .keys.secret) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "abisu.validate.city" -}}
{{- with .Values.city -}}
{{- if and .catalogs (not (hasKey .catalogs "partner.yaml")) -}}
{{- include "abisu.refuse" "city.catalogs: partner.yaml is missing; give all catalogs, or none" -}}
{{- end -}}
{{- if and .serviceArea.existingConfigMap (not .serviceArea.keys) -}}
{{- include "abisu.refuse" "city.serviceArea.keys: empty; name the files in the ConfigMap of city.serviceArea.existingConfigMap" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "abisu.validate.service" -}}
{{- $key := .key -}}
{{- $values := .values -}}
{{- $scaling := $values.autoscaling -}}
{{- if $scaling.enabled -}}
{{- if and (eq $scaling.type "keda") (not (has $key (list "conversation" "partnerPush"))) -}}
{{- include "abisu.refuse" (printf "%s.autoscaling.type: keda scales conversation and partnerPush, by what waits for them; use hpa" $key) -}}
{{- end -}}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) -}}
{{- include "abisu.refuse" (printf "%s.autoscaling.minReplicas: %d is more than maxReplicas, %d" $key (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- end -}}
{{- if and (eq $scaling.type "hpa") (lt (int $scaling.minReplicas) 1) -}}
{{- include "abisu.refuse" (printf "%s.autoscaling.minReplicas: must be at least 1 with hpa" $key) -}}
{{- end -}}
{{- if and (eq $scaling.type "hpa") (not (dig "requests" "cpu" "" $values.resources)) -}}
{{- include "abisu.refuse" (printf "%s.resources.requests.cpu: not set, and the autoscaler measures against it" $key) -}}
{{- end -}}
{{- end -}}
{{- $rolling := $values.rollingUpdate -}}
{{- if and (has (toString $rolling.maxSurge) (list "0" "0%")) (has (toString $rolling.maxUnavailable) (list "0" "0%")) -}}
{{- include "abisu.refuse" (printf "%s.rollingUpdate: maxSurge and maxUnavailable are both 0, so nothing could be updated" $key) -}}
{{- end -}}
{{- if $values.pdb.enabled -}}
{{- $min := $values.pdb.minAvailable -}}
{{- $max := $values.pdb.maxUnavailable -}}
{{- if and (not (kindIs "invalid" $min)) (not (kindIs "invalid" $max)) -}}
{{- include "abisu.refuse" (printf "%s.pdb: minAvailable and maxUnavailable are both set; make one of them null" $key) -}}
{{- end -}}
{{- if and (kindIs "invalid" $min) (kindIs "invalid" $max) -}}
{{- include "abisu.refuse" (printf "%s.pdb: neither minAvailable nor maxUnavailable is set" $key) -}}
{{- end -}}
{{- $least := include "abisu.leastPods" . | int -}}
{{- if not (kindIs "invalid" $min) -}}
{{- if and $least (ge (include "abisu.share" (list $min $least) | int) $least) -}}
{{- include "abisu.refuse" (printf "%s.pdb.minAvailable: %v of %d pods would block every drain of a node; use maxUnavailable" $key $min $least) -}}
{{- end -}}
{{- else if eq (toString $max) "0%" -}}
{{- include "abisu.refuse" (printf "%s.pdb.maxUnavailable: 0%% would block every drain of a node" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Times that must fit into each other; the leases are the services' defaults. */}}
{{- define "abisu.validate.timing" -}}
{{- $push := include "abisu.service" (list . "partnerPush") | fromYaml -}}
{{- $longest := add (int $push.loginTimeoutMs) (int $push.sendTimeoutMs) -}}
{{- if lt (int $push.graceMs) (int $longest) -}}
{{- include "abisu.refuse" (printf "partnerPush.graceMs: %d is less than a login and a send may take (%d), so a stop could cut a request that has left" (int $push.graceMs) (int $longest)) -}}
{{- end -}}
{{- if ge (int $longest) 60000 -}}
{{- include "abisu.refuse" (printf "partnerPush.sendTimeoutMs: a login and a send (%d) must be shorter than the lease of 60000" (int $longest)) -}}
{{- end -}}
{{- $slots := mul (int $push.parallel) (len (splitList "," .Values.partner.channel)) -}}
{{- if le (int $push.databasePool) (int $slots) -}}
{{- include "abisu.refuse" (printf "partnerPush.databasePool: %d, must be more than partnerPush.parallel for each of partner.channel, %d" (int $push.databasePool) (int $slots)) -}}
{{- end -}}
{{- $chats := include "abisu.service" (list . "conversation") | fromYaml -}}
{{- if ge (int $chats.sendTimeoutMs) 30000 -}}
{{- include "abisu.refuse" "conversation.sendTimeoutMs: must be shorter than the lease of 30000" -}}
{{- end -}}
{{- $work := max (int $chats.sendTimeoutMs) (int $chats.lookupTimeoutMs) -}}
{{- if lt (int $chats.graceMs) (int $work) -}}
{{- include "abisu.refuse" (printf "conversation.graceMs: %d is less than a send or a lookup may take (%d)" (int $chats.graceMs) (int $work)) -}}
{{- end -}}
{{- end -}}

{{- define "abisu.validate.door" -}}
{{- with .Values.ingest -}}
{{- if and .ingress.enabled (not .ingress.host) -}}
{{- include "abisu.refuse" "ingest.ingress.host: not set, but ingest.ingress.enabled is true" -}}
{{- end -}}
{{- if .httpRoute.enabled -}}
{{- if not .httpRoute.parentRefs -}}
{{- include "abisu.refuse" "ingest.httpRoute.parentRefs: empty; name the Gateway" -}}
{{- end -}}
{{- if not .httpRoute.hostnames -}}
{{- include "abisu.refuse" "ingest.httpRoute.hostnames: empty; without one every host of the Gateway would lead here" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
