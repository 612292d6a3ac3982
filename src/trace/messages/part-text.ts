/** The JSON text of a part in answers, in two: the stored text, with its index in the message. */
export const partTexts = (text: string, index: number): [string, string] => [`{"order":${index},`, text.slice(1)]

export const partText = (text: string, index: number): string => partTexts(text, index).join('')

/** The size of `partText` in bytes. */
export const partTextBytes = (text: string, index: number): number => Buffer.byteLength(text) + 9 + String(index).length
