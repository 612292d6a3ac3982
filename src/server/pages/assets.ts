import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { readScripts } from './scripts.ts'
import { style } from './style/sheet.ts'

export const encodings = ['br', 'gzip'] as const
type Encoding = (typeof encodings)[number]

const compressors: Readonly<Record<Encoding, (content: Buffer) => Promise<Buffer>>> = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
}

/** A file that pages load, under a name that changes with its content. */
const newAsset = (type: string, content: Buffer) => {
  const kept = new Map<Encoding, Promise<Buffer>>()
  /** The compressed content, which is made once, at the first request. */
  const compressed = (encoding: Encoding) => {
    const made = kept.get(encoding) ?? compressors[encoding](content)
    kept.set(encoding, made)
    return made
  }
  return { type, content, compressed }
}

export type Asset = ReturnType<typeof newAsset>

const HASH_LENGTH = 10
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, HASH_LENGTH)

const favicon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><style>.p{fill:#2743c4}.m{stroke:#fff}.d{fill:#fff}' +
  '@media(prefers-color-scheme:dark){.p{fill:#9db1ff}.m{stroke:#10152b}.d{fill:#10152b}}</style>' +
  '<rect class="p" x="1" y="1" width="20" height="20" rx="5"/><path class="m" d="M7 4.5v13M11 7h6M11 11h4M11 15h5.5" ' +
  'fill="none" stroke-width="1.7" stroke-linecap="round"/><circle class="d" cx="7" cy="7" r="2.4"/></svg>'

const assets = new Map<string, Asset>()

const add = (name: string, ending: string, type: string, text: string): string => {
  const full = `${name}-${hashOf(text)}.${ending}`
  assets.set(full, newAsset(type, Buffer.from(text)))
  return `/assets/${full}`
}

/** The addresses of the files that every page loads. */
export const styleAddress: string = add('style', 'css', 'text/css; charset=utf-8', style)
export const faviconAddress: string = add('favicon', 'svg', 'image/svg+xml', favicon)

const scriptAddresses: string[] = []
/** The addresses of the scripts of every page; empty before `prepareScripts`, and if no scripts can be made. */
export const scriptsOfPages = (): readonly string[] => scriptAddresses

let preparing: Promise<void> | undefined

const prepare = async () => {
  for (const { name, content } of await readScripts()) {
    assets.set(name, newAsset('text/javascript; charset=utf-8', Buffer.from(content)))
    if (/^(?:main|chunk)-/.test(name)) scriptAddresses.push(`/assets/${name}`)
  }
}

/** Makes the scripts, once in a process. If that fails, `failed` of the first caller is called, and pages have no scripts. */
export const prepareScripts = (failed: (error: unknown) => void): Promise<void> =>
  (preparing ??= prepare().catch(failed))

export const assetOf = (name: string): Asset | undefined => assets.get(name)
