/** The providers that are the lab that made a model, by the beginning of its normalized id. The first in the catalogue is used. */
const LABS: readonly (readonly [begins: RegExp, providers: readonly string[]])[] = [
  [/^claude/, ['anthropic']],
  [/^(?:gpt|chatgpt|o\d|codex|text-embedding|dall-e|whisper|sora)(?:-|$|\d)/, ['openai']],
  [/^(?:gemini|gemma|imagen|veo)/, ['google', 'google-vertex']],
  [/^(?:grok)/, ['xai']],
  [/^(?:mistral|mixtral|codestral|devstral|magistral|ministral|pixtral|voxtral|open-mi)/, ['mistral']],
  [/^deepseek/, ['deepseek']],
  [/^(?:qwen|qwq|qvq)/, ['alibaba', 'alibaba-cn']],
  [/^(?:kimi|moonshot)/, ['moonshotai', 'moonshotai-cn', 'kimi-for-coding']],
  [/^glm/, ['zai', 'zhipuai']],
  [/^minimax/, ['minimax', 'minimax-cn']],
  [/^(?:command|c4ai|aya)/, ['cohere']],
  [/^(?:llama|cerebras-llama)/, ['llama']],
  [/^(?:nova-(?:lite|micro|pro|premier|\d)|titan)/, ['amazon-bedrock']],
  [/^nemotron/, ['nvidia']],
  [/^mercury/, ['inception']],
  [/^sonar/, ['perplexity']],
  [/^solar/, ['upstage']],
  [/^step-/, ['stepfun', 'stepfun-ai']],
  [/^mimo/, ['xiaomi']],
  [/^morph/, ['morph']],
]

/** The providers that are the lab that made a model, best first; empty for an unknown one. */
export const labsOf = (normalizedId: string): readonly string[] =>
  LABS.find(([begins]) => begins.test(normalizedId))?.[1] ?? []
