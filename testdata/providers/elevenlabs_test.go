package main_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/elevenlabs"
	"github.com/content-automation/api/testdata/providers/sample"
)

func TestStrictnessOfElevenLabs(t *testing.T) {
	const (
		speak = "/v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb"
		music = "/v1/music"
		ok    = `{"text":"Hello","model_id":"eleven_v3","language_code":"en","seed":1}`
	)
	for name, c := range map[string]struct {
		path, body, key string
		status          int
	}{
		"speech":                {speak, ok, "k", 200},
		"speech with its times": {speak + "/with-timestamps", ok, "k", 200},
		"speech as WAV":         {speak + "?output_format=wav_16000", ok, "k", 200},
		"speech with settings": {speak,
			`{"text":"Hello","voice_settings":{"stability":0.5,"use_speaker_boost":true}}`, "k", 200},
		"music":         {music, `{"prompt":"A tune","model_id":"music_v1","music_length_ms":3000}`, "k", 200},
		"no key":        {speak, ok, "", 401},
		"another key":   {speak, ok, "x", 401},
		"no such voice": {"/v1/text-to-speech/21m00Tcm4TlvDq8ikWAX", ok, "k", 404},
		"no such path":  {"/v1/speech", ok, "k", 404},
		"no such model": {speak, `{"text":"Hello","model_id":"eleven_v9"}`, "k", 400},
		"an empty text": {speak, `{"text":" "}`, "k", 400},
		"no text":       {speak, `{}`, "k", 422},
		"too long a text": {speak, `{"model_id":"eleven_v3","text":"` + strings.Repeat("я", 5001) +
			`"}`, "k", 400},
		"a code not taken": {speak,
			`{"text":"Hello","model_id":"eleven_multilingual_v2","language_code":"en"}`, "k", 400},
		"no such language":       {speak, `{"text":"Hello","model_id":"eleven_v3","language_code":"en-GB"}`, "k", 400},
		"an unknown member":      {speak, `{"text":"Hello","volume":2}`, "k", 422},
		"a text for a number":    {speak, `{"text":"Hello","seed":"1"}`, "k", 422},
		"a negative seed":        {speak, `{"text":"Hello","seed":-1}`, "k", 422},
		"an unknown parameter":   {speak + "?format=mp3", ok, "k", 422},
		"no such format":         {speak + "?output_format=flac", ok, "k", 422},
		"an unknown setting":     {speak, `{"text":"Hello","voice_settings":{"calm":1}}`, "k", 422},
		"no prompt":              {music, `{"music_length_ms":3000}`, "k", 422},
		"too short a track":      {music, `{"prompt":"A tune","music_length_ms":2999}`, "k", 422},
		"too long a track":       {music, `{"prompt":"A tune","music_length_ms":600001}`, "k", 422},
		"a fraction":             {music, `{"prompt":"A tune","music_length_ms":3000.5}`, "k", 422},
		"a seed beside a prompt": {music, `{"prompt":"A tune","seed":1}`, "k", 422},
		"no such music":          {music, `{"prompt":"A tune","model_id":"eleven_v3"}`, "k", 422},
		"too long a prompt":      {music, `{"prompt":"` + strings.Repeat("x", 4101) + `"}`, "k", 422},
	} {
		log := control.New()
		r := httptest.NewRequest("POST", c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Xi-Api-Key", c.key)
		w := httptest.NewRecorder()
		elevenlabs.New(elevenlabs.Config{Control: log, Media: sample.Files, Key: "k"}).ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %.200s", name, w.Code, c.status, w.Body)
			continue
		}
		if accepted := len(log.Accepted()); (accepted == 1) != (c.status == 200) {
			t.Errorf("%s: %d accepted", name, accepted)
		}
		if strings.HasSuffix(c.path, "/with-timestamps") {
			var answer struct {
				Audio     []byte `json:"audio_base64"`
				Alignment struct {
					Characters []string  `json:"characters"`
					Begins     []float64 `json:"character_start_times_seconds"`
				} `json:"alignment"`
			}
			err := json.Unmarshal(w.Body.Bytes(), &answer)
			if info, failed := probe.Bytes(answer.Audio); err != nil || failed != nil ||
				info.MIMEType != "audio/mpeg" || len(answer.Alignment.Characters) != 5 ||
				len(answer.Alignment.Begins) != 5 {
				t.Errorf("%s: %.200s", name, w.Body)
			}
			continue
		}
		if c.status == 200 {
			if info, err := probe.Bytes(w.Body.Bytes()); err != nil || info.MIMEType != w.Header().Get("Content-Type") {
				t.Errorf("%s: %+v, %v, told to be %s", name, info, err, w.Header().Get("Content-Type"))
			}
		}
	}
}
