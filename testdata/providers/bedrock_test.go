package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	fake "github.com/content-automation/api/testdata/providers/bedrock"
	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/sample"
)

const signature = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261101/us-west-2/bedrock/aws4_request, " +
	"SignedHeaders=content-type;host;x-amz-date, Signature=" +
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func call(t *testing.T, h http.Handler, method, path, body, authorization string) (status int, code string,
	answer map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", authorization)
	r.Header.Set("X-Amz-Date", "20261101T000000Z")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if err := json.NewDecoder(w.Body).Decode(&answer); err != nil && err != io.EOF {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return w.Code, w.Header().Get("X-Amzn-Errortype"), answer
}

func newFake(c *control.Control) http.Handler {
	return fake.New(fake.Config{
		Control: c, Samples: sample.File, Now: time.Now,
		Write: func(context.Context, string, string, []byte) error { return nil },
	})
}

const (
	converse = "/model/us.amazon.nova-lite-v1%3A0/converse"
	core     = "/model/stability.stable-image-core-v1%3A1/invoke"
	async    = "/async-invoke"
)

// Each body is accepted, and refused with any one of the changes.
var bodies = map[string]struct {
	path, body string
	spoilt     map[string]string // replacements by the replaced text
}{
	"converse": {converse, `{"messages": [{"role": "user", "content": [{"text": "x"}]}], "system": [{"text": "y"}], "inferenceConfig": {"maxTokens": 9}}`, map[string]string{
		`"messages"`: `"message"`, `"role"`: `"rolle"`, `"user"`: `"assistant"`, `"x"`: `" "`, `"y"`: `""`,
		`"maxTokens"`: `"max_tokens"`, `9`: `0`,
		`[{"text": "x"}]`: `[]`,
	}},
	"tools": {converse, `{"messages": [{"role": "user", "content": [{"text": "x"}]}, {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a1", "name": "look", "input": {}}}]},
		{"role": "user", "content": [{"toolResult": {"toolUseId": "a1", "status": "success", "content": [{"json": {"n": 1}}]}}]}],
		"toolConfig": {"tools": [{"toolSpec": {"name": "look", "description": "looks", "inputSchema": {"json": {"type": "object"}}}}]}}`, map[string]string{
		`"toolConfig"`: `"tools"`, `"toolUseId": "a1", "name"`: `"toolUseId": "a2", "name"`,
		`"toolUseId": "a1", "status"`: `"toolUseId": "a2", "status"`, `"input": {}`: `"input": []`,
		`{"n": 1}`: `[1]`, `"success"`: `"fine"`, `"look", "description"`: `"look at", "description"`, `"looks"`: `""`,
		`{"type": "object"}`:         `{"type": "array"}`,
		`"toolConfig": {"tools": [{`: `"toolConfig": {"tools": []}, "additionalModelRequestFields": {"tools": [{`,
		`"toolUse": {`:               `"text": "x", "toolUse": {`,
	}},
	"core": {core, `{"prompt": "x", "mode": "text-to-image", "aspect_ratio": "1:1", "seed": 1, "output_format": "png"}`,
		map[string]string{
			`"prompt"`: `"text"`, `"x"`: `""`, `"1:1"`: `"7:1"`, `"seed": 1`: `"seed": -1`, `"png"`: `"gif"`,
			`"text-to-image"`: `"image-to-image"`,
		}},
	"async": {async, `{"modelId": "luma.ray-v2:0", "modelInput": {"prompt": "x", "duration": "5s", "resolution": "720p", "aspect_ratio": "9:16"}, "clientRequestToken": "abc", "outputDataConfig": {"s3OutputDataConfig": {"s3Uri": "s3://media-bucket/raw"}}}`, map[string]string{
		`luma.ray-v2:0`: `amazon.nova-reel-v1:1`, `"prompt"`: `"text"`, `"5s"`: `"5"`, `"720p"`: `"4k"`,
		`"9:16"`: `"7:1"`, `"abc"`: `"a b"`, `s3://`: `https://`, `"s3Uri"`: `"uri"`,
		`"outputDataConfig"`: `"output"`,
	}},
}

const trainings = "/model-customization-jobs"

const train = `{"jobName": "trn-1", "customModelName": "trn-1", "clientRequestToken": "trn-1", "roleArn": "arn:aws:iam::111122223333:role/training", "baseModelIdentifier": "meta.llama3-3-70b-instruct-v1:0:128k",
	"customizationType": "FINE_TUNING", "trainingDataConfig": {"s3Uri": "s3://media-bucket/training/samples.jsonl"}, "outputDataConfig": {"s3Uri": "s3://media-bucket/training/output/"}, "hyperParameters": {"epochCount": "5", "batchSize": "1"}}`

func init() {
	bodies["train"] = struct {
		path, body string
		spoilt     map[string]string
	}{trainings, train, map[string]string{
		`"trn-1", "customModelName"`:    `"trn_1", "customModelName"`,
		`"trn-1", "clientRequestToken"`: `"trn 1", "clientRequestToken"`, `"trn-1", "roleArn"`: `"trn_1", "roleArn"`,
		`arn:aws:iam::111122223333:role/training`: `training`, `:0:128k`: `:0`,
		`meta.llama3-3-70b-instruct-v1:0:128k`: `amazon.nova-lite-v1:0:300k`, `FINE_TUNING`: `DISTILLATION`,
		`s3://media-bucket/training/samples.jsonl`: `https://media-bucket/samples.jsonl`,
		`s3://media-bucket/training/output/`:       `training/output`, `"epochCount": "5"`: `"epochCount": "11"`,
		`"batchSize"`: `"learningRateWarmupSteps"`, `"jobName"`: `"name"`,
	}}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	for name, c := range bodies {
		log := control.New()
		h := newFake(log)
		for old, replacement := range c.spoilt {
			body := strings.Replace(c.body, old, replacement, 1)
			if body == c.body {
				t.Errorf("%s: there is no %s", name, old)
			}
			if status, code, answer := call(t, h, http.MethodPost, c.path, body, signature); status < 400 ||
				code == "" || answer["message"] == "" {
				t.Errorf("%s with %s for %s: %d %s %v", name, replacement, old, status, code, answer)
			}
		}
		if n := len(log.Accepted()); n != 0 {
			t.Errorf("%s: %d refused requests were accepted", name, n)
		}
		if status, _, answer := call(t, h, http.MethodPost, c.path, c.body, signature); status/100 != 2 ||
			len(log.Accepted()) != 1 {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
}

func TestModelsAndSignaturesAreChecked(t *testing.T) {
	h := newFake(control.New())
	for name, c := range map[string]struct {
		path, authorization, code string
		status                    int
	}{
		"no signature": {converse, "", "UnrecognizedClientException", 403},
		"one for another service": {converse, strings.Replace(signature, "/bedrock/", "/s3/", 1),
			"UnrecognizedClientException", 403},
		"one that leaves out hosts": {converse, strings.Replace(signature, "host;", "", 1),
			"UnrecognizedClientException", 403},
		"a model without profile": {"/model/amazon.nova-lite-v1%3A0/converse", signature, "ValidationException", 400},
		"a model unheard of":      {"/model/acme.writer-v1/converse", signature, "ValidationException", 400},
		"a model of images": {strings.Replace(core, "invoke", "converse", 1), signature,
			"ValidationException", 400},
		"a model that has ended": {"/model/amazon.nova-canvas-v1%3A0/invoke", signature,
			"ResourceNotFoundException", 404},
		"a path unheard of": {"/model/amazon.nova-lite-v1%3A0/dance", signature,
			"UnknownOperationException", 404},
	} {
		if status, code, _ := call(t, h, http.MethodPost, c.path, bodies["converse"].body,
			c.authorization); status != c.status || code != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, status, code, c.status, c.code)
		}
	}
	if status, code, _ := call(t, h, http.MethodGet,
		async+"/"+url.PathEscape("arn:aws:bedrock:us-west-2:000000000000:async-invoke/nobody000000"), "",
		signature); status != 400 || code != "ValidationException" {
		t.Errorf("an invocation unheard of: %d %s", status, code)
	}
}

// A model writes valid proposals after it has been told which ones are invalid.
func TestProposalsAreWritten(t *testing.T) {
	h := newFake(control.New())
	ask := func(prompt string) (patches []string) {
		body, err := json.Marshal(map[string]any{
			"messages": []any{map[string]any{"role": "user", "content": []any{map[string]string{"text": prompt}}}},
			"system":   []any{map[string]string{"text": `It has one member, "proposals": an array of 1 to 5 objects`}},
		})
		if err != nil {
			t.Fatal(err)
		}
		status, _, answer := call(t, h, http.MethodPost, converse, string(body), signature)
		if status != http.StatusOK {
			t.Fatalf("answered %d %v", status, answer)
		}
		content := answer["output"].(map[string]any)["message"].(map[string]any)["content"].([]any)
		var form struct {
			Proposals []struct{ Patch json.RawMessage }
		}
		if err := json.Unmarshal([]byte(content[0].(map[string]any)["text"].(string)), &form); err != nil {
			t.Fatal(err)
		}
		for _, p := range form.Proposals {
			patches = append(patches, strings.Join(strings.Fields(string(p.Patch)), ""))
		}
		return patches
	}
	if got := ask(`{"findings":[{"code":"no_audience"}],"refused":null}`); len(got) != 2 ||
		got[1] != `{"state":"paused"}` {
		t.Errorf("at first %v", got)
	}
	if got := ask(`{"findings":[{"code":"no_audience"}],"refused":[{"problems":["no"]}]}`); len(got) != 1 ||
		!strings.Contains(got[0], "audience") {
		t.Errorf("then %v", got)
	}
}

// A model calls the tools that any message or result orders it to call.
func TestToolsAreCalled(t *testing.T) {
	h := newFake(control.New())
	const tools = `"toolConfig": {"tools": [{"toolSpec": {"name": "look", "description": "looks", "inputSchema": {"json": {"type": "object"}}}}]}`
	talk := func(path, messages string) (status int, stop, said string) {
		status, _, answer := call(t, h, http.MethodPost, path, `{"messages": [`+messages+`], `+tools+`}`, signature)
		stop, _ = answer["stopReason"].(string)
		output, _ := json.Marshal(answer["output"])
		return status, stop, string(output)
	}
	ask := `{"role": "user", "content": [{"text": "Please\n!look {\"at\": \"shoes\"}"}]}`
	if status, stop, said := talk(converse, ask); status != 200 || stop != "tool_use" ||
		!strings.Contains(said, `"input":{"at":"shoes"},"name":"look","toolUseId":"tooluse_1_0"`) {
		t.Errorf("%d %s %s", status, stop, said)
	}
	called := ask + `, {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "look", "input": {}}}]}, {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"json": {"seen": [%]}}]}}]}`
	if status, stop, said := talk(converse, strings.Replace(called, "%", `"!look {}"`, 1)); status != 200 ||
		stop != "tool_use" {
		t.Errorf("%d %s %s", status, stop, said)
	}
	if status, stop, said := talk(converse, strings.Replace(called, "%", `"a shoe"`, 1)); status != 200 ||
		stop != "end_turn" || !strings.Contains(said, "I have done 1 things, and 0 failed.") {
		t.Errorf("%d %s %s", status, stop, said)
	}
	if status, _, _ := talk("/model/us.deepseek.r1-v1%3A0/converse", ask); status != 400 {
		t.Errorf("a model without tools answers %d", status)
	}
}
