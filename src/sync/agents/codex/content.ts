import { blocksOf } from '../support/content-blocks.ts'
import { isObject, type Json, parseObject, textOf } from '../support/json.ts'
import { dataUrlPlaceholder, mediaPlaceholder } from '../support/media.ts'

const TEXT_TYPES = ['input_text', 'output_text', 'text']

/** The text that replaces an image; undefined without one (README, rule 3). */
const imageText = ({ image_url: image }: Json): string | undefined => {
  const url = textOf(isObject(image) ? image['url'] : image)
  return url === undefined ? undefined : (dataUrlPlaceholder(url, 'image') ?? mediaPlaceholder('image'))
}

/** The text of a content block; undefined for what has none, or is encrypted. */
export const blockText = (block: Json): string | undefined => {
  if (block['type'] === 'input_image') return imageText(block)
  return TEXT_TYPES.includes(String(block['type'])) ? textOf(block['text']) : undefined
}

/** The output in the old form of a result, with the exit code in front, as newer versions write it (README, rule 5). */
const shellOutput = (text: string): string | undefined => {
  if (!text.startsWith('{"output":')) return undefined
  const { output, metadata } = parseObject(text) ?? {}
  const exitCode = isObject(metadata) ? metadata['exit_code'] : undefined
  return typeof output === 'string' && typeof exitCode === 'number' ? `Exit code: ${exitCode}\n${output}` : undefined
}

/** The text of a tool's output, which is text, one block, many, or an object around them. */
export const outputText = (output: unknown): string => {
  if (typeof output === 'string') return shellOutput(output) ?? output
  if (!isObject(output))
    return blocksOf(output)
      .flatMap((block) => blockText(block) ?? [])
      .join('\n')
  return output['content'] === undefined ? (blockText(output) ?? '') : outputText(output['content'])
}
