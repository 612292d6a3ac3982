import { clientLine } from '../../base/client-line.ts'
import { type Html, markup } from '../../transcript/html/markup.ts'

/** A text to copy that is no command; `name` says what it is. */
export const textHtml = (text: string, name: string): Html =>
  markup`<div class="cmd" data-copies="${name}"><code>${text}</code></div>\n`

/** A link to copy, for another person or another browser. */
export const linkHtml = (url: string): Html => textHtml(url, 'Link')

/** A command line to copy. */
export const commandHtml = (line: string): Html => markup`<div class="cmd"><code>${line}</code></div>\n`

/** A command of the client to copy. `service` is the address of the service as commands may name it. */
export const clientHtml = (service: string | undefined, words: string): Html => commandHtml(clientLine(service, words))
