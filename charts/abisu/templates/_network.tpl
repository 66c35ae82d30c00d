{{/* Rules of network policies. */}}

{{/* Egress to name servers. Takes the root. */}}
{{- define "abisu.egress.dns" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns | nindent 4 }}
  ports:
    {{- range .Values.networkPolicy.dnsPorts }}
    - port: {{ . }}
      protocol: UDP
    - port: {{ . }}
      protocol: TCP
    {{- end }}
{{- end -}}

{{/* Egress to the database. Takes the root. */}}
{{- define "abisu.egress.database" -}}
- ports:
    - port: {{ .Values.database.port }}
      protocol: TCP
  {{- with .Values.networkPolicy.database }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Egress to the collector, where there is one. Takes the root. */}}
{{- define "abisu.egress.otlp" -}}
{{- with .Values.telemetry.otlpEndpoint -}}
- ports:
    - port: {{ include "abisu.urlPort" . }}
      protocol: TCP
  {{- with $.Values.networkPolicy.otlp }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The port of a URL. */}}
{{- define "abisu.urlPort" -}}
{{- $url := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- default (ternary "80" "443" (eq $url.scheme "http")) $port -}}
{{- end -}}

{{/*
Egress to a URL outside: to its address where it is one, else to everything but the networks that are inside, on its
port. A name of a Service is a pod of any namespace, on any port: a Service's port need not be its pods'. Takes a dict:
root, url, peers (in place of all this).
*/}}
{{- define "abisu.egress.url" -}}
{{- $host := (urlParse .url).hostname -}}
{{- $port := include "abisu.urlPort" .url -}}
{{- if .peers -}}
- to:
    {{- toYaml .peers | nindent 4 }}
{{- else if regexMatch "^[0-9.]+$|:" $host -}}
- to:
    - ipBlock:
        cidr: {{ printf "%s/%d" $host (ternary 128 32 (contains ":" $host)) }}
  ports:
    - port: {{ $port }}
      protocol: TCP
{{- else if or (not (contains "." $host)) (hasSuffix ".svc" $host) (hasSuffix ".svc.cluster.local" $host) -}}
- to:
    - namespaceSelector: {}
{{- else -}}
{{ include "abisu.egress.outside" (dict "root" .root "port" $port) }}
{{- end -}}
{{- end -}}

{{/* Egress to everything outside on a port. Takes a dict: root, port. */}}
{{- define "abisu.egress.outside" -}}
{{- $four := list -}}
{{- $six := list -}}
{{- range .root.Values.networkPolicy.outsideExcept -}}
{{- if contains ":" . -}}{{- $six = append $six . -}}{{- else -}}{{- $four = append $four . -}}{{- end -}}
{{- end -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        {{- with $four }}
        except:
          {{- toYaml . | nindent 10 }}
        {{- end }}
    - ipBlock:
        cidr: ::/0
        {{- with $six }}
        except:
          {{- toYaml . | nindent 10 }}
        {{- end }}
  ports:
    - port: {{ .port }}
      protocol: TCP
{{- end -}}

{{/* Egress to pods of this release. Takes a dict: root, component, port. */}}
{{- define "abisu.egress.pods" -}}
- to:
    - podSelector:
        matchLabels:
          {{- include "abisu.selector" (list .root .component) | nindent 10 }}
  ports:
    - port: {{ .port }}
      protocol: TCP
{{- end -}}

{{/* What only one component reaches. All take the root. */}}
{{- define "abisu.egress.ingest" -}}
{{- end -}}

{{/* The Graph API of the channels at Meta. Those beside the number of `whatsapp` are outside, and speak TLS. */}}
{{- define "abisu.egress.meta" -}}
{{- if include "abisu.whatsapp.on" . }}
{{ include "abisu.egress.url" (dict "root" . "url" .Values.whatsapp.graphUrl) }}
{{- end }}
{{- if include "abisu.flows.others" . }}
{{ include "abisu.egress.outside" (dict "root" . "port" 443) }}
{{- end }}
{{- end -}}

{{- define "abisu.egress.conversation" -}}
{{ include "abisu.egress.pods" (dict "root" . "component" "geocode" "port" 50051) }}
{{- if include "abisu.whatsapp.on" . }}
{{ include "abisu.egress.url" (dict "root" . "url" .Values.whatsapp.graphUrl) }}
{{- end }}
{{- /* Other channels name their providers in the channels file; they are outside, and speak TLS. */ -}}
{{- if or .Values.channels.extra .Values.channels.existingConfigMap }}
{{ include "abisu.egress.outside" (dict "root" . "port" 443) }}
{{- end }}
{{- end -}}

{{- define "abisu.egress.geocode" -}}
{{- $values := .Values.geocode -}}
{{- range $provider := prepend $values.fallback $values.provider | uniq }}
{{- if ne $provider "offline" }}
{{ include "abisu.egress.url" (dict "root" $ "url" (default "https://outside.example" (index $values $provider).url)) }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "abisu.egress.partner-push" -}}
{{- if .Values.partner.enabled -}}
{{ include "abisu.egress.url" (dict "root" . "url" .Values.partner.url "peers" .Values.networkPolicy.partner) }}
{{- end }}
{{- end -}}
