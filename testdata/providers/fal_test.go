package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/fal"
	"github.com/content-automation/api/testdata/providers/sample"
)

// caller calls a fake below a prefix, as in the command with all fakes.
type caller struct {
	t       *testing.T
	address string
	at      time.Time
}

func start(t *testing.T) (*caller, *control.Control) {
	t.Helper()
	c, faults := &caller{t: t, at: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}, control.New()
	server := httptest.NewServer(http.StripPrefix("/fal", fal.New(faults, sample.File, func() time.Time { return c.at },
		time.Second)))
	t.Cleanup(server.Close)
	c.address = server.URL + "/fal"
	return c, faults
}

func (c *caller) call(method, address, body string, header ...string) (int, map[string]any) {
	c.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = c.address + address
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Key test")
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	var answer map[string]any
	if resp.Header.Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(content, &answer); err != nil {
			c.t.Fatal(err)
		}
	} else {
		answer = map[string]any{"content": content}
	}
	return resp.StatusCode, answer
}

func TestARequestFromBeginToEnd(t *testing.T) {
	c, faults := start(t)
	status, queued := c.call("POST", "/fal-ai/flux/schnell",
		`{"prompt":"Sea","image_size":{"width":896,"height":1120},"num_images":2}`)
	if status != 200 || queued["status"] != "IN_QUEUE" {
		t.Fatalf("%d %v", status, queued)
	}
	address, _ := queued["response_url"].(string)
	if want := c.address + "/fal-ai/flux/requests/" + fmt.Sprint(queued["request_id"]); address != want ||
		queued["status_url"] != want+"/status" || queued["cancel_url"] != want+"/cancel" {
		t.Errorf("asked after at %v, want %s", queued, want)
	}
	for _, step := range []struct {
		after  time.Duration
		code   int
		status string
		result int
	}{{0, 202, "IN_QUEUE", 400}, {500 * time.Millisecond, 202, "IN_PROGRESS", 400},
		{time.Second, 200, "COMPLETED", 200}} {
		c.at = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Add(step.after)
		if code, got := c.call("GET", address+"/status", ""); code != step.code || got["status"] != step.status {
			t.Errorf("after %v: %d %v", step.after, code, got)
		}
		if code, got := c.call("GET", address, ""); code != step.result {
			t.Errorf("after %v: %d %v", step.after, code, got)
		}
	}
	_, result := c.call("GET", address, "")
	images, _ := result["images"].([]any)
	if len(images) != 2 {
		t.Fatalf("made %v", result)
	}
	for _, image := range images {
		code, got := c.call("GET", image.(map[string]any)["url"].(string), "", "Authorization", "")
		if content, _ := got["content"].([]byte); code != 200 || !strings.HasPrefix(string(content), "\x89PNG") {
			t.Errorf("%v: %d, %d bytes", image, code, len(content))
		}
	}
	if faults.Count("fal", "Sea") != 1 {
		t.Errorf("logged %+v", faults.Accepted())
	}
	if code, got := c.call("PUT", address+"/cancel", ""); code != 400 || got["status"] != "ALREADY_COMPLETED" {
		t.Errorf("canceled after its end: %d %v", code, got)
	}
	c.at = c.at.Add(2 * time.Hour)
	if code, _ := c.call("GET", images[0].(map[string]any)["url"].(string), ""); code != 404 {
		t.Errorf("the file is still there: %d", code)
	}
}

func TestWhatIsNotOfTheProtocol(t *testing.T) {
	c, faults := start(t)
	_, queued := c.call("POST", "/fal-ai/flux/schnell", `{"prompt":"Sea"}`)
	id := fmt.Sprint(queued["request_id"])
	for _, tc := range []struct {
		method, path, body string
		header             []string
		want               int
	}{
		{"POST", "/fal-ai/flux/schnell", `{"prompt":"Sea"}`, []string{"Authorization", ""}, 401},
		{"POST", "/fal-ai/flux/schnell", `{"prompt":"Sea"}`, []string{"Authorization", "Bearer x"}, 401},
		{"POST", "/fal-ai/flux/schnell", `[]`, nil, 422},
		{"POST", "/fal-ai/flux/schnell", `{`, nil, 422},
		{"POST", "/fal-ai/flux/schnell", `{"prompt":"Sea"}`, []string{"Content-Type", "text/plain"}, 422},
		{"POST", "/fal-ai/flux/schnell", `{"prompt":"Sea"}`, []string{"X-Fal-Object-Lifecycle-Preference", "soon"}, 400},
		{"POST", "/fal-ai/flux/schnellil", `{"prompt":"Sea"}`, nil, 404},
		{"GET", "/fal-ai/flux/schnell", ``, nil, 405},
		{"GET", "/fal-ai/flux/schnell/requests/" + id + "/status", ``, nil, 405}, // only below owner and alias
		{"GET", "/fal-ai/qwen-image/requests/" + id + "/status", ``, nil, 404},
		{"GET", "/fal-ai/flux/requests/other/status", ``, nil, 404},
		{"GET", "/fal-ai/flux/requests/other", ``, nil, 404},
		{"PUT", "/fal-ai/flux/requests/other/cancel", ``, nil, 404},
		{"POST", "/fal-ai/flux/requests/" + id + "/cancel", ``, nil, 405},
		{"GET", "/files/" + id + "/0/image-1x1.png", ``, nil, 404}, // not ready
		{"GET", "/files/" + id + "/x/image-1x1.png", ``, nil, 404},
	} {
		if got, answer := c.call(tc.method, tc.path, tc.body, tc.header...); got != tc.want {
			t.Errorf("%s %s: %d %v, want %d", tc.method, tc.path, got, answer, tc.want)
		}
	}
	if n := len(faults.Accepted()); n != 1 {
		t.Errorf("%d accepted", n)
	}
}

// An input that a model refuses has a refusal as its result, and costs nothing.
func TestInputsThatModelsRefuse(t *testing.T) {
	c, faults := start(t)
	for _, tc := range []struct{ endpoint, input, member string }{
		{"fal-ai/flux-2-pro", `{"prompt":"Sea","guidance_scale":3}`, "guidance_scale"},
		{"fal-ai/flux-2-pro", `{"prompt":"Sea","num_images":1}`, "num_images"},
		{"fal-ai/flux/schnell", `{"prompt":"Sea","aspect_ratio":"1:1"}`, "aspect_ratio"},
		{"fal-ai/flux/schnell", `{"prompt":"Sea","image_size":"huge"}`, "image_size"},
		{"fal-ai/flux/schnell", `{"prompt":"Sea","image_size":{"width":1024}}`, "image_size"},
		{"fal-ai/flux/schnell", `{"prompt":"Sea","num_images":5}`, "num_images"},
		{"fal-ai/flux/schnell", `{"prompt":"Sea","num_images":"1"}`, "num_images"},
		{"fal-ai/flux/schnell", `{"prompt":""}`, "prompt"},
		{"fal-ai/flux/schnell", `{}`, "prompt"},
		{"fal-ai/nano-banana-pro", `{"prompt":"Sea","resolution":"8K"}`, "resolution"},
		{"openai/gpt-image-2", `{"prompt":"Sea","image_size":{"width":1000,"height":1000}}`, "image_size"},
		{"fal-ai/veo3.1", `{"prompt":"Sea","duration":"8"}`, "duration"},
		{"fal-ai/veo3.1", `{"prompt":"Sea","duration":8}`, "duration"},
		{"fal-ai/veo3.1", `{"prompt":"Sea","generate_audio":"false"}`, "generate_audio"},
		{"fal-ai/kling-video/v2.5-turbo/pro/image-to-video",
			`{"prompt":"Sea","image_url":"https://a.example.com/a","duration":5}`, "duration"},
		{"fal-ai/kling-video/v2.5-turbo/pro/image-to-video", `{"prompt":"Sea","image_url":"a.png"}`, "image_url"},
		{"fal-ai/kling-video/v2.6/pro/image-to-video", `{"prompt":"Sea","image_url":"https://a.example.com/a"}`,
			"image_url"},
		{"fal-ai/minimax-music/v2", `{"prompt":"Slow waltz","lyrics_prompt":"La"}`, "lyrics_prompt"},
		{"fal-ai/elevenlabs/text-to-dialogue/eleven-v3", `{"inputs":[]}`, "inputs"},
		{"fal-ai/elevenlabs/text-to-dialogue/eleven-v3", `{"inputs":[{"text":"Hello"}]}`, "inputs"},
		{"fal-ai/minimax/speech-2.8-hd", `{"prompt":"Hello","text":"Hello"}`, "text"},
		{"veed/avatars/text-to-video", `{"text":"Hello"}`, "avatar_id"},
	} {
		status, queued := c.call("POST", "/"+tc.endpoint, tc.input)
		if status != 200 {
			t.Errorf("%s %s: %d %v", tc.endpoint, tc.input, status, queued)
			continue
		}
		c.at = c.at.Add(time.Minute)
		code, answer := c.call("GET", fmt.Sprint(queued["response_url"]), "")
		details, _ := answer["detail"].([]any)
		if code != 422 || len(details) == 0 || fmt.Sprint(details[0].(map[string]any)["loc"]) != "[body "+
			tc.member+"]" {
			t.Errorf("%s %s: %d %v", tc.endpoint, tc.input, code, answer)
		}
	}
	if n := len(faults.Accepted()); n != 0 {
		t.Errorf("%d accepted", n)
	}
}

func TestMiniMaxSpeaksInHexUnlessAskedForAnAddress(t *testing.T) {
	c, _ := start(t)
	_, queued := c.call("POST", "/fal-ai/minimax/speech-2.8-hd", `{"prompt":"Hello"}`)
	c.at = c.at.Add(time.Minute)
	code, answer := c.call("GET", fmt.Sprint(queued["response_url"]), "")
	// the first frame of an MP3
	if audio, ok := answer["audio"].(string); code != 200 || !ok || !strings.HasPrefix(audio, "fff") {
		t.Errorf("%d %v", code, answer)
	}
}
