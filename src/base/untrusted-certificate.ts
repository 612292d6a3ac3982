/** Codes of Node for a certificate that no known authority has signed. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** What is wrong with the certificate of a server, and what to do, from an error of a connection; undefined for other errors. */
export const untrustedCertificate = (error: unknown): string | undefined =>
  UNTRUSTED.has((error as { readonly code?: unknown } | null | undefined)?.code)
    ? 'its certificate is self-signed, or of an authority that Node.js does not know: set NODE_EXTRA_CA_CERTS to a file (PEM) with the certificate of the authority'
    : undefined
