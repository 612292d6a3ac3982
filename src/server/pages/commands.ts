import { type Html, markup } from '../../transcript/html/markup.ts'

/** A link to copy, for another person or another browser. */
export const linkHtml = (url: string): Html => markup`<div class="cmd" data-copies="Link"><code>${url}</code></div>\n`

/** A command line to copy. */
export const commandHtml = (line: string): Html => markup`<div class="cmd"><code>${line}</code></div>\n`
