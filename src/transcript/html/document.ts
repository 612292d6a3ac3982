import { type Html, markup } from './markup.ts'
import { base } from './style/base.ts'
import { code } from './style/code.ts'
import { diff } from './style/diff.ts'
import { messages } from './style/messages.ts'
import { narrow } from './style/narrow.ts'
import { parts } from './style/parts.ts'
import { print } from './style/print.ts'
import { tokens } from './style/tokens.ts'
import { tools } from './style/tools.ts'
import { trace } from './style/trace.ts'

/** The style sheet of all HTML, without any address in it. Layers decide which rule wins (`style/tokens.ts`). */
const styleSheet = markup`\n${[tokens, base, parts, trace, messages, tools, diff, code, narrow, print]}`
/** Its text, for the hash in policies. */
export const style: string = styleSheet.source

/**
 * The beginning of every HTML document, up to its body. The policy is also in the document, because a file is opened from disks
 * and mails, without headers. `referrerPolicy` is that of the header.
 */
export const startOfDocument = (title: string, referrerPolicy = 'no-referrer'): Html => markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="${referrerPolicy}">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${styleSheet}</style>
</head>
<body>
`

export const endOfDocument: Html = markup`</body>
</html>
`
