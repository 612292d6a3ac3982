import { clientLine } from '../../base/client-line.ts'
import { type Html, markup } from '../../transcript/html/markup.ts'

/** A link to copy, for another person or another browser. */
export const linkHtml = (url: string): Html => markup`<div class="cmd" data-copies="Link"><code>${url}</code></div>\n`

/** A command line to copy. */
export const commandHtml = (line: string): Html => markup`<div class="cmd"><code>${line}</code></div>\n`

/** A command of the client to copy. `service` is the address of the service as commands may name it. */
export const clientHtml = (service: string | undefined, words: string): Html => commandHtml(clientLine(service, words))
