package elevenlabs

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// timed reports whether speech is requested with the times of its characters.
func timed(req provider.Request) bool { return req.Kind == provider.KindVoice && req.Marks }

// timedSpeech is the answer of POST /v1/text-to-speech/{voice_id}/with-timestamps.
type timedSpeech struct {
	Audio     []byte `json:"audio_base64"`
	Alignment *struct {
		Characters []string  `json:"characters"`
		Begins     []float64 `json:"character_start_times_seconds"`
	} `json:"alignment"`
}

// readTimed returns the file of an answer, and the times of the words in the text. There are none if the provider
// returns no times, or times for another text.
func readTimed(answer []byte, text string) ([]byte, []provider.Mark, error) {
	var a timedSpeech
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, nil, err
	}
	if a.Audio == nil {
		return nil, nil, errors.New("it has no audio")
	}
	if a.Alignment == nil || strings.Join(a.Alignment.Characters, "") != text ||
		len(a.Alignment.Begins) != len(a.Alignment.Characters) {
		return a.Audio, nil, nil
	}
	var marks []provider.Mark
	offset, between := 0, true
	for i, c := range a.Alignment.Characters {
		first, _ := utf8.DecodeRuneInString(c)
		space := unicode.IsSpace(first)
		if between && !space {
			marks = append(marks, provider.Mark{Offset: offset,
				At: time.Duration(a.Alignment.Begins[i] * float64(time.Second)).Truncate(time.Millisecond)})
		}
		between = space
		offset += len(c)
	}
	return a.Audio, marks, nil
}
