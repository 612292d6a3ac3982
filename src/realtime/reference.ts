import { closeCodes } from './close-codes.ts'
import { EXAMPLE_FRAME, MAX_FRAME_BYTES } from './protocol.ts'
import type { RealtimeSettings } from './settings.ts'

/** What the reference says of `GET /v1/realtime`: frames, queries and close codes, which no JSON schema tells. */
export const realtimeDescription = (settings: RealtimeSettings): string => `
Answers queries again whenever what they show changes, within 250 ms. Frames are texts of JSON, at most ${MAX_FRAME_BYTES / 1024} KiB long.

Client frames:
- \`${EXAMPLE_FRAME}\` takes the place of a subscription with the same \`id\`
- \`{"type":"unsubscribe","id":"feed"}\`
- \`{"type":"ping"}\`, which is answered \`{"type":"pong"}\`

Server frames:
- \`{"type":"result","id":"feed","value":…}\`, at once and after each change
- \`{"type":"error","id":"feed","error":{"code","message"}}\` ends that subscription; without \`id\` it is about a frame that could not be used

Queries:
- \`feed:getPublicTraces\` \`{limit?}\`: the newest public traces
- \`feed:getNamespaceTraces\` \`{authToken, limit?}\`: those of the token's namespace; null without a valid token
- \`traces:get\` \`{externalId, authToken?}\`: the trace with \`revision\`; null for what may not be read, or is not there
- \`traces:getMessages\` \`{externalId, authToken?, includeParts?, changedSince?, traceId?}\`: \`{messages, revision, traceId}\`; with \`changedSince\` only
  what has changed since that revision, and then what has changed since the value before

Who asks: \`authToken\`; else the bearer header or the cookie of the upgrade. A cookie counts only from the service's own pages and \`CORS_ORIGINS\`.

Close codes: ${closeCodes.restarting} the service stops, come again; 1009 a frame is too long; ${closeCodes.silent} nothing was heard for a minute; \
${closeCodes.slow} the client reads too slowly; ${closeCodes.tooMany} too many connections.

Limits: ${settings.REALTIME_SUBSCRIPTIONS} subscriptions on a connection; ${settings.REALTIME_CONNECTIONS_SESSION} connections of a session, \
${settings.REALTIME_CONNECTIONS_ADDRESS} of an address without one, four times as many of an address in all (429, or close code ${closeCodes.tooMany}).`
