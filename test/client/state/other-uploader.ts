import { newUploader } from '../../../src/client/state/uploader.ts'

// Is the uploader to a service for ever, as another process; says so once it is.
const [stateFolder = '', config = '', server = ''] = process.argv.slice(2)
await newUploader({ stateFolder, config, server })(() => {
  process.send!('uploading')
  return new Promise(() => setInterval(() => {}, 1_000))
})
