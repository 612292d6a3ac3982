import { type Html, markup, none } from '../transcript/html/markup.ts'
import { faviconAddress, scriptOfPages, styleAddress } from './assets.ts'

const script = (): Html => {
  const address = scriptOfPages()
  return address === undefined ? none : markup`<script type="module" src="${address}"></script>\n`
}

/** The beginning of a page of the service, up to its body. `referrerPolicy` is that of the header. */
export const startOfPage = (title: string, referrerPolicy = 'no-referrer'): Html => markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="${referrerPolicy}">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${faviconAddress}" type="image/svg+xml">
<link rel="stylesheet" href="${styleAddress}">
${script()}</head>
<body>
`
