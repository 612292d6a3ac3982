import { type Html, markup } from './markup.ts'
import { code } from './style/code.ts'
import { colours } from './style/colours.ts'
import { layout } from './style/layout.ts'
import { media } from './style/media.ts'
import { pages } from './style/pages.ts'
import { prose } from './style/prose.ts'
import { turns } from './style/turns.ts'

/** The style sheet of all HTML, without any address in it. A later rule wins over an earlier one. */
const styleSheet = markup`\n${[colours, layout, prose, turns, code, pages, media]}`
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
