/** The address at which a browser shows a trace of this server, to those who may read it. */
export const traceUrl = (server: string, externalId: string): string =>
  `${server}/v1/traces/${encodeURIComponent(externalId)}/export?format=html`
