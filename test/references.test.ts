import { readFile, readdir } from 'node:fs/promises'
import { basename, dirname, join, normalize } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('what comments and READMEs refer to')
const root = new URL('..', import.meta.url).pathname

const filesOf = async (folder: string): Promise<string[]> =>
  (await readdir(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath.slice(root.length), entry.name))

const files = (await Promise.all(['src', 'projections', 'migrations', 'test', '.ci'].map(filesOf))).flat()
const all = new Set([...files, ...(await readdir(root))])
const names = new Set([...all].map((file) => basename(file)))
const folders = new Set(files.flatMap((file) => [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index + 1))))

const comments = (source: string): string[] =>
  [...source.matchAll(/(?<!\*)\/\*\*?([\s\S]*?)\*\/|^\s*\/\/(.*)$/gm)].map(([, block, line]) =>
    (block ?? line ?? '').replace(/^\s*\* ?/gm, ' ').replace(/\s+/g, ' '),
  )

/** A file that a text names, by its path from the folder of the text, from `src` or from the top, or by its name alone. */
const exists = (file: string, named: string): boolean =>
  [join(dirname(file), named), join('src', named), named].some((path) => all.has(normalize(path))) ||
  (!named.includes('/') && names.has(named))

const read = (file: string) => readFile(join(root, file), 'utf8')
const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
const found = await Promise.all(sources.map(async (file) => ({ file, texts: comments(await read(file)) })))
const readmes = await Promise.all(
  [...all].filter((file) => basename(file) === 'README.md').map(async (file) => ({ file, texts: [await read(file)] })),
)

test('every file that a comment or a README names is there', () => {
  const missing = [...found, ...readmes].flatMap(({ file, texts }) =>
    texts.flatMap((text) =>
      [...text.matchAll(/(?<![\w/*<:])[\w./-]*\w\.(?:ts|md|sql)\b/g)]
        .filter(([named]) => !exists(file, named))
        .map(([named]) => `${file}: ${named}`),
    ),
  )
  assert.equal(missing, [])
})

test('every folder that a README names is there', () => {
  const missing = readmes.flatMap(({ file, texts }) =>
    texts.flatMap((text) =>
      [...text.matchAll(/`((?:\.\.\/)*(?:[\w.-]+\/)+)`/g)]
        .map(([, named]) => named!)
        .filter((named) => ![dirname(file), 'src', 'test', '.'].some((from) => folders.has(join(from, named))))
        .map((named) => `${file}: ${named}`),
    ),
  )
  assert.equal(missing, [])
})

test('no comment cites a document by its chapter: what it says stands here', () => {
  const cited = found.flatMap(({ file, texts }) =>
    texts.filter((text) => /\((?:see )?[a-z]+: [A-Z][\w ,]+\)/.test(text)).map((text) => `${file}: ${text}`),
  )
  assert.equal(cited, [])
})

test('every rule that a comment names by its number is in the README of its folder', async () => {
  for (const { file, texts } of found)
    for (const text of texts)
      for (const [, path, rule] of text.matchAll(/\(`?((?:[\w-]+\/)*)README(?:\.md`)?, rule (\d+)\)/g)) {
        const readme = await readFile(join(root, dirname(file), path!, 'README.md'), 'utf8')
        assert.match(readme, new RegExp(`^${rule}\\. `, 'm'), `${file}: ${text}`)
      }
})

test.run()
