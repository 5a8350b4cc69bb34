package bedrock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// imageRatios are the ratios of Stability's models. The first one is the default, as in their API.
var imageRatios = []string{"1:1", "4:5", "9:16", "16:9", "2:3", "3:2", "5:4", "21:9"}

// maxPrompt is the length of the longest prompt, in characters.
const maxPrompt = 10_000

type stabilityInput struct {
	Prompt       string `json:"prompt"`
	Mode         string `json:"mode"`
	AspectRatio  string `json:"aspect_ratio"`
	Seed         uint32 `json:"seed"`
	OutputFormat string `json:"output_format"`
}

// imageOutput is the answer of a model.
type imageOutput struct {
	Images  [][]byte  `json:"images"`         // base64
	Reasons []*string `json:"finish_reasons"` // null, or the reason for a missing image
}

func (p *Provider) draw(ctx context.Context, req provider.Request) (provider.Submission, error) {
	body, err := imageInput(req)
	if err != nil {
		return provider.Submission{}, err
	}
	c := call("InvokeModel", imageTimeout, true)
	var out *bedrockruntime.InvokeModelOutput
	if err := c.Do(ctx, func(ctx context.Context) (err error) {
		out, err = p.client.InvokeModel(ctx, &bedrockruntime.InvokeModelInput{
			ModelId: p.model(req), Body: body, ContentType: aws.String("application/json"),
			Accept: aws.String("application/json"),
		})
		return err
	}); err != nil {
		return provider.Submission{}, err
	}
	var answer imageOutput
	if err := json.Unmarshal(out.Body, &answer); err != nil {
		return provider.Submission{}, c.Garbled(err)
	}
	for _, reason := range answer.Reasons {
		if reason != nil && *reason != "" {
			return provider.Submission{}, ended(*reason)
		}
	}
	if len(answer.Images) != 1 || len(answer.Images[0]) == 0 {
		return provider.Submission{}, c.Garbled(fmt.Errorf("%d images", len(answer.Images)))
	}
	return provider.Submission{Result: &provider.Result{Media: []provider.File{provider.FileOf(answer.Images[0])}}}, nil
}

// imageInput converts a request to the form of its model.
func imageInput(req provider.Request) ([]byte, error) {
	ratio := req.AspectRatio
	if ratio == "" {
		ratio = imageRatios[0]
	}
	if !strings.HasPrefix(req.Model, "stability.") {
		return nil, badInput("The provider has no image model %q.", req.Model)
	}
	return json.Marshal(stabilityInput{
		Prompt: provider.Clip(req.Prompt, maxPrompt), Mode: "text-to-image", AspectRatio: ratio, Seed: seed(req),
		OutputFormat: "png",
	})
}

// seed derives a seed from the client token: a request that is submitted again, because the answer was lost, gets the
// same picture.
func seed(req provider.Request) uint32 {
	const most = 1<<32 - 2
	h := fnv.New32a()
	_, _ = io.WriteString(h, req.ClientToken) // a hash takes everything
	return h.Sum32()%most + 1                 // 0 would be a random seed
}

// ended returns the error of a model that made no image for the given reason.
func ended(reason string) *provider.Error {
	cause := errors.New("InvokeModel: " + reason)
	if aboutContent(reason) {
		return filtered(cause)
	}
	return failed(cause)
}
