/** Refuses a picture that is too large before it is sent, and shows any other one in the place of the present picture. */
export const checkPicture = (): void => {
  const field = document.querySelector<HTMLInputElement>('input[type=file][data-most-bytes]')
  field?.addEventListener('change', () => {
    const file = field.files?.[0]
    const most = Number(field.dataset['mostBytes'])
    const isTooLarge = file !== undefined && file.size > most
    field.setCustomValidity(isTooLarge ? `This picture is larger than ${most / 1_024} KiB: choose a smaller one.` : '')
    field.reportValidity()
    if (file && !isTooLarge) preview(file)
  })
}

const preview = (file: File): void => {
  const reader = new FileReader()
  reader.addEventListener('load', () => {
    const shown = document.querySelector('#picture .who.big')
    const picture = new Image(48, 48)
    picture.className = 'who big'
    picture.alt = ''
    picture.addEventListener('load', () => shown?.replaceWith(picture))
    picture.src = String(reader.result)
  })
  reader.readAsDataURL(file)
}
