import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { endOfDocument } from '../../transcript/html/document.ts'
import { faviconAddress, scriptsOfPages, styleAddress } from './assets.ts'
import { endOfShell, startOfShell } from './shell.ts'
import type { Viewer } from './viewer.ts'

const scripts = (): readonly Html[] =>
  scriptsOfPages().map((address) => markup`<script type="module" src="${address}"></script>\n`)

/** The values in the head of a page. */
type PageHead = {
  readonly title: string
  /** The name of the page, by which scripts know it. */
  readonly name: string
  /** The same value as in the header `referrer-policy`. */
  readonly referrerPolicy: string
  readonly viewer: Viewer
  /** Further elements of the head. */
  readonly head?: Html
  /** Whether it has an element with the id `outline`. Default: no. */
  readonly hasOutline?: boolean
}

/** The beginning of a page of the service, with the bar of the site. `endOfPage` ends it. */
export const startOfPage = ({ title, name, referrerPolicy, viewer, head = none, hasOutline }: PageHead): Html => {
  const { theme, hasKeys, user } = viewer
  return markup`<!doctype html>
<html lang="en" data-theme="${theme ?? 'system'}" data-keys="${hasKeys ? 'on' : 'off'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="${referrerPolicy}">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="${theme ?? 'light dark'}">
<title>${title}</title>
<link rel="icon" href="${faviconAddress}" type="image/svg+xml">
<link rel="stylesheet" href="${styleAddress}">
${head}</head>
<body data-page="${name}" data-session="${user ? 'yes' : 'no'}">
${startOfShell(viewer, hasOutline)}`
}

/** The end of a page, with the foot of the site. The scripts are the last thing to be fetched, because a page is read without them. */
export const endOfPage = (): Html => markup`${endOfShell}${scripts()}${endOfDocument}`
