/** Which provider is a model's own lab, by how its normalised id begins. The first that the catalogue has wins. */
const labs: readonly (readonly [begins: RegExp, providers: readonly string[]])[] = [
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

/** The providers that are a model's own lab, best first; none when nobody knows. */
export const labsOf = (normalizedId: string): readonly string[] =>
  labs.find(([begins]) => begins.test(normalizedId))?.[1] ?? []
