package polly

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/polly"
	"github.com/aws/aws-sdk-go-v2/service/polly/types"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
)

// maxMarks bounds the marks of a text, in bytes.
const maxMarks = 1 << 20

// mark is one line of an answer.
type mark struct {
	Time  int64  `json:"time"` // ms
	Type  string `json:"type"`
	Start int    `json:"start"` // bytes
}

// marks returns the times of the words of a text, and the number of characters that were billed for them. Speech
// without them is still useful, so a failure is only logged.
func (p *Provider) marks(ctx context.Context, engine types.Engine, v voice, text string) (all []provider.Mark,
	billed int) {
	call := wire.AWSCall{Name: "polly: SynthesizeSpeech of marks", Timeout: quickTimeout, Refused: refused}
	err := call.Do(ctx, func(ctx context.Context) error {
		out, err := p.client.SynthesizeSpeech(ctx, &polly.SynthesizeSpeechInput{
			Engine: engine, VoiceId: v.id, LanguageCode: v.code, OutputFormat: types.OutputFormatJson,
			SpeechMarkTypes: []types.SpeechMarkType{types.SpeechMarkTypeWord}, Text: aws.String(text),
			TextType: types.TextTypeText,
		})
		if err != nil {
			return err
		}
		defer out.AudioStream.Close()
		billed = int(out.RequestCharacters)
		content, err := io.ReadAll(io.LimitReader(out.AudioStream, maxMarks))
		if err != nil {
			return err
		}
		if all, err = readMarks(string(content), len(text)); err != nil {
			return call.Garbled(err)
		}
		return nil
	})
	if err != nil {
		slog.Warn("speech without marks", "provider", Name, "error", err)
		return nil, billed
	}
	return all, billed
}

// readMarks reads the marks of words: an object in each line.
func readMarks(lines string, length int) (all []provider.Mark, err error) {
	for line := range strings.Lines(lines) {
		var m mark
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return nil, err
		}
		if m.Type == "word" && m.Start >= 0 && m.Start < length && m.Time >= 0 {
			all = append(all, provider.Mark{Offset: m.Start, At: time.Duration(m.Time) * time.Millisecond})
		}
	}
	return all, nil
}
