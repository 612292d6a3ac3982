import { EXAMPLE_DEVICE_ID } from '../contract/fields.ts'
import { LEAST_DEVICE_ID } from '../contract/sessions.ts'
import { invalid } from '../http/http-error.ts'
import { type NetworkSettings, isReachedByOthers } from '../http/reach.ts'

/** @throws HttpError invalid_request for the example, and for an id that strangers on the network could guess */
export const assertDeviceId = (deviceId: string, network: NetworkSettings): void => {
  if (deviceId === EXAMPLE_DEVICE_ID) throw invalid('deviceId', 'is an example: make 32 random characters of your own')
  if ([...deviceId].length < LEAST_DEVICE_ID && isReachedByOthers(network))
    throw invalid('deviceId', `must have at least ${LEAST_DEVICE_ID} characters on a service that others can reach`)
}
