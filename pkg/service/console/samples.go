package console

import "strings"

// sample is a piece of a program in a language, with the person's own secret.
type sample struct{ ID, Name, Code string }

// callSamples make the first call with a key.
var callSamples = []sample{
	{"curl", "curl", `curl {url}/v1/me -H "Authorization: Bearer {secret}"`},
	{"typescript", "TypeScript", `import { ContentAutomation } from '@content-automation/api';

const api = new ContentAutomation({ baseUrl: '{url}', apiKey: '{secret}' });
console.log(await api.account.get());`},
	{"python", "Python", `from content_automation import ContentAutomation

api = ContentAutomation(base_url="{url}", api_key="{secret}")
print(api.account.get())`},
	{"go", "Go", `req, _ := http.NewRequest("GET", "{url}/v1/me", nil)
req.Header.Set("Authorization", "Bearer {secret}")
answer, err := http.DefaultClient.Do(req)`},
}

// verifySamples verify the signature of an event. The body is that of the request as it came, in bytes.
var verifySamples = []sample{
	{"typescript", "TypeScript", `import { createHmac, timingSafeEqual } from 'node:crypto';

const key = Buffer.from('{secret}'.slice(6), 'base64');
export function verified(headers: Record<string, string>, body: Buffer) {
  const at = headers['webhook-timestamp'];
  if (Math.abs(Date.now() / 1000 - Number(at)) > 300) return false;
  const sent = Buffer.concat([Buffer.from(headers['webhook-id'] + '.' + at + '.'), body]);
  const signature = Buffer.from('v1,' + createHmac('sha256', key).update(sent).digest('base64'));
  return headers['webhook-signature'].split(' ').some((one) =>
    one.length === signature.length && timingSafeEqual(Buffer.from(one), signature));
}`},
	{"python", "Python", `import base64, hashlib, hmac, time

key = base64.b64decode("{secret}"[6:])
def verified(headers, body):
    at = headers["webhook-timestamp"]
    if abs(time.time() - int(at)) > 300:
        return False
    sent = f"{headers['webhook-id']}.{at}.".encode() + body
    signature = "v1," + base64.b64encode(hmac.new(key, sent, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(signature, one) for one in headers["webhook-signature"].split(" "))`},
	{"go", "Go", `// go get github.com/standard-webhooks/standard-webhooks/libraries/go
hook, err := standardwebhooks.NewWebhook("{secret}")
if err == nil {
	err = hook.Verify(body, request.Header)
}`},
}

// filled returns samples with an address and a secret in them.
func filled(all []sample, url, secret string) (some []sample) {
	fill := strings.NewReplacer("{url}", url, "{secret}", secret)
	for _, s := range all {
		some = append(some, sample{s.ID, s.Name, fill.Replace(s.Code)})
	}
	return some
}

// Samples verify the events of the webhook.
func (w webhook) Samples() []sample { return filled(verifySamples, "", given(w.Secret)) }
