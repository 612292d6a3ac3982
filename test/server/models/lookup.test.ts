import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { labsOf, type ModelEntry, newLookup } from '../../../src/server/models/lookup.ts'
import { normalizeModelId } from '../../../src/server/models/normalized-id.ts'

const test = suite('model lookup')

/** An excerpt of the catalogue: `provider/model` and the name that the provider gives it. */
const excerpt: readonly (readonly [provider: string, model: string, name: string])[] = [
  ['anthropic', 'claude-opus-4-5', 'Claude Opus 4.5 (latest)'],
  ['anthropic', 'claude-opus-4-5-20251101', 'Claude Opus 4.5'],
  ['anthropic', 'claude-opus-4-6', 'Claude Opus 4.6'],
  ['anthropic', 'claude-sonnet-4-5-20250929', 'Claude Sonnet 4.5'],
  ['amazon-bedrock', 'eu.anthropic.claude-opus-4-5-20251101-v1:0', 'Claude Opus 4.5 (EU)'],
  ['amazon-bedrock', 'au.anthropic.claude-opus-4-6-v1', 'AU Anthropic Claude Opus 4.6'],
  ['openrouter', 'anthropic/claude-opus-4.5', 'Claude Opus 4.5'],
  ['github-copilot', 'claude-opus-4.5', 'Claude Opus 4.5'],
  ['google-vertex-anthropic', 'claude-opus-4-5@20251101', 'Claude Opus 4.5'],
  ['openai', 'gpt-5', 'GPT-5'],
  ['openai', 'gpt-5.1-codex', 'GPT-5.1 Codex'],
  ['openai', 'gpt-5.1-codex-max', 'GPT-5.1 Codex Max'],
  ['openai', 'gpt-5.5', 'GPT-5.5'],
  ['azure', 'gpt-5', 'GPT 5 on Azure'],
  ['google', 'gemini-3-flash-preview', 'Gemini 3 Flash Preview'],
  ['google', 'gemini-2.5-pro', 'Gemini 2.5 Pro'],
  ['zenmux', 'google/gemini-2.5-pro', 'ZenMux Gemini'],
  ['moonshotai', 'kimi-k2-thinking', 'Kimi K2 Thinking'],
  ['moonshotai', 'kimi-k2', 'Kimi K2'],
  ['ollama-cloud', 'gpt-oss:20b', 'gpt-oss:20b'],
  ['ollama-cloud', 'gpt-oss:120b', 'gpt-oss:120b'],
  ['groq', 'openai/gpt-oss-120b', 'GPT OSS 120B'],
  ['cerebras', 'gpt-oss-120b', 'GPT OSS 120B'],
  ['deepinfra', 'openai/gpt-oss-120b', 'OpenAI GPT OSS'],
  ['opencode', 'big-pickle', 'Big Pickle'],
]
const entries = excerpt.map(([providerId, modelId, name]): ModelEntry => {
  return { providerId, modelId, normalizedId: normalizeModelId(modelId), name }
})
const find = newLookup(entries)

/** What agents write, and what it must come to: the normalised id and the name. */
const spellings: readonly (readonly [written: string, id: string, name: string])[] = [
  // Claude Code
  ['claude-opus-4-5-20251101', 'claude-opus-4-5', 'Claude Opus 4.5'],
  ['claude-opus-4-5', 'claude-opus-4-5', 'Claude Opus 4.5 (latest)'],
  ['claude-opus-4-6[1m]', 'claude-opus-4-6', 'Claude Opus 4.6'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5', 'Claude Sonnet 4.5'],
  // Claude Code over Bedrock and Vertex
  ['eu.anthropic.claude-opus-4-5-20251101-v1:0', 'claude-opus-4-5', 'Claude Opus 4.5'],
  ['us.anthropic.claude-opus-4-5-20251101-v1:0', 'claude-opus-4-5', 'Claude Opus 4.5'],
  ['global.anthropic.claude-opus-4-6-v1', 'claude-opus-4-6', 'Claude Opus 4.6'],
  ['claude-opus-4-5@20251101', 'claude-opus-4-5', 'Claude Opus 4.5'],
  // Codex
  ['gpt-5.5', 'gpt-5-5', 'GPT-5.5'],
  ['gpt-5', 'gpt-5', 'GPT-5'],
  ['gpt-5-2025-08-07', 'gpt-5', 'GPT-5'],
  ['gpt-5.1-codex-max', 'gpt-5-1-codex-max', 'GPT-5.1 Codex Max'],
  ['gpt-5.1-codex-high', 'gpt-5-1-codex', 'GPT-5.1 Codex'],
  // Gemini CLI
  ['gemini-3-flash-preview', 'gemini-3-flash-preview', 'Gemini 3 Flash Preview'],
  ['models/gemini-2.5-pro', 'gemini-2-5-pro', 'Gemini 2.5 Pro'],
  // opencode and pi: provider and model, exactly
  ['opencode/big-pickle', 'big-pickle', 'Big Pickle'],
  ['azure/gpt-5', 'gpt-5', 'GPT 5 on Azure'],
  ['zenmux/google/gemini-2.5-pro', 'gemini-2-5-pro', 'ZenMux Gemini'],
  ['anthropic/claude-opus-4-5-20251101', 'claude-opus-4-5', 'Claude Opus 4.5'],
  // OpenRouter, Copilot and others
  ['anthropic/claude-opus-4.5', 'claude-opus-4-5', 'Claude Opus 4.5'],
  ['anthropic/claude-opus-4.5:thinking', 'claude-opus-4-5', 'Claude Opus 4.5'],
  ['claude-opus-4.5', 'claude-opus-4-5', 'Claude Opus 4.5'],
  ['Claude-Opus-4.5', 'claude-opus-4-5', 'Claude Opus 4.5'],
  ['kimi-k2-thinking', 'kimi-k2-thinking', 'Kimi K2 Thinking'],
  ['gpt-oss:120b', 'gpt-oss', 'gpt-oss:120b'],
  ['gpt-oss-120b', 'gpt-oss-120b', 'GPT OSS 120B'],
  ['openai/gpt-oss-120b', 'gpt-oss-120b', 'GPT OSS 120B'],
]

for (const [written, id, name] of spellings) {
  test(`${written} is ${name}`, () => {
    const entry = find(written)
    assert.equal([entry?.normalizedId, entry?.name], [id, name])
  })
}

for (const written of ['<synthetic>', '', 'acme-model-x1', 'gpt', 'claude', ':free', '/', 'x'.repeat(10_000), '\0']) {
  test(`${JSON.stringify(written.slice(0, 20))} is no model`, () => assert.is(find(written), undefined))
}

test('an id of several providers is that of the lab, not of the first', () => {
  assert.is(newLookup([...entries].reverse())('gpt-5')?.providerId, 'openai')
})
test('an id that no lab offers gets its most common name', () => {
  assert.is(newLookup([...entries].reverse())('gpt-oss-120b')?.name, 'GPT OSS 120B')
})
test('the labs of an id are found by its beginning', () => {
  assert.equal(labsOf('claude-opus-4-5'), ['anthropic'])
  assert.equal(labsOf('o3-mini'), ['openai'])
  assert.equal(labsOf('nova-pro'), ['amazon-bedrock'])
  assert.equal(labsOf('big-pickle'), [])
})

const normals: readonly (readonly [string, string])[] = [
  ['claude-opus-4-5-20251101', 'claude-opus-4-5'],
  ['claude-3-7-sonnet-20250219-v1:0', 'claude-3-7-sonnet'],
  ['accounts/fireworks/models/kimi-k2p5', 'kimi-k2p5'],
  ['Qwen/Qwen2.5-7B-Instruct', 'qwen2-5-7b-instruct'],
  ['openai.gpt-oss-120b-1:0', 'gpt-oss-120b-1'],
  ['us.meta.llama4-scout-17b-instruct-v1:0', 'llama4-scout-17b-instruct'],
  ['deepseek/deepseek-v3.2:free', 'deepseek-v3-2'],
  ['gemini-1.5.1-pro', 'gemini-1-5-1-pro'],
]
for (const [id, normal] of normals) test(`${id} is normalised`, () => assert.is(normalizeModelId(id), normal))

test.run()
