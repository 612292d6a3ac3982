/** The JSON text of a part in answers: the stored text, with its index in the message. */
export const partText = (text: string, index: number): string => `{"order":${index},${text.slice(1)}`

/** The size of `partText` in bytes. */
export const partTextBytes = (text: string, index: number): number => Buffer.byteLength(text) + 9 + String(index).length
