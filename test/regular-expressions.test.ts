import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from 'recheck'
import ts from 'typescript'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('regular expressions')
const root = join(import.meta.dirname, '..')

const files = globSync('{src,projections,migrations}/**/*.ts', { cwd: root, exclude: ['**/*.d.ts'] })

type Found = { readonly file: string; readonly literals: readonly string[]; readonly isBuilt: boolean }

/** The patterns of a file, and whether it builds others while it runs. */
const patternsOf = (file: string): Found => {
  const literals: string[] = []
  let isBuilt = false
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) literals.push(node.text)
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp')
      isBuilt = true
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true))
  return { file, literals, isBuilt }
}

const found = files.map(patternsOf)

test('take time in proportion to what they are given', async () => {
  const literals = found.flatMap(({ file, literals }) => literals.map((literal) => ({ file, literal })))
  assert.ok(literals.length > 50)
  const slow: string[] = []
  for (const { file, literal } of literals) {
    const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(literal)!
    const { status } = await check(source, flags, { timeout: 20_000 })
    if (status !== 'safe') slow.push(`${file}: ${literal} is ${status}`)
  }
  assert.equal(slow, [])
})

test('are written out, so that they can be checked', () => {
  assert.equal(
    found.filter(({ isBuilt }) => isBuilt).map(({ file }) => file),
    [],
  )
})

test.run()
