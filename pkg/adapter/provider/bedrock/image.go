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

// imageRatios are the ratios of Stability's models. The first one is the default, as in their API. Titan supports some
// of them.
var imageRatios = []string{"1:1", "4:5", "9:16", "16:9", "2:3", "3:2", "5:4", "21:9"}

// titanSizes are the largest pictures of Titan by their aspect ratio.
var titanSizes = map[string]struct{ width, height int }{
	"1:1": {1024, 1024}, "16:9": {1173, 640}, "2:3": {768, 1152}, "3:2": {1152, 768},
}

// The longest prompts, in characters.
const (
	maxStabilityPrompt = 10_000
	maxTitanPrompt     = 512
)

type stabilityInput struct {
	Prompt       string `json:"prompt"`
	Mode         string `json:"mode"`
	AspectRatio  string `json:"aspect_ratio"`
	Seed         uint32 `json:"seed"`
	OutputFormat string `json:"output_format"`
}

type titanInput struct {
	TaskType string `json:"taskType"`
	Params   struct {
		Text string `json:"text"`
	} `json:"textToImageParams"`
	Config struct {
		NumberOfImages int    `json:"numberOfImages"`
		Quality        string `json:"quality"`
		Width          int    `json:"width"`
		Height         int    `json:"height"`
		Seed           uint32 `json:"seed"`
	} `json:"imageGenerationConfig"`
}

// imageOutput is the answer of both families.
type imageOutput struct {
	Images  [][]byte  `json:"images"`         // base64
	Reasons []*string `json:"finish_reasons"` // Stability: null, or the reason for a missing image
	Error   string    `json:"error"`          // Titan: the reason for missing images
}

// draw generates an image.
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
	switch {
	case answer.Error != "":
		return provider.Submission{}, ended(answer.Error)
	case len(answer.Images) != 1 || len(answer.Images[0]) == 0:
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
	switch {
	case strings.HasPrefix(req.Model, "stability."):
		return json.Marshal(stabilityInput{
			Prompt: provider.Clip(req.Prompt, maxStabilityPrompt), Mode: "text-to-image", AspectRatio: ratio,
			Seed: seed(req, 1<<32-2), OutputFormat: "png",
		})
	case strings.HasPrefix(req.Model, "amazon.titan-image"):
		size, ok := titanSizes[ratio]
		if !ok {
			return nil, badInput("The model does not make images of %s.", ratio)
		}
		in := titanInput{TaskType: "TEXT_IMAGE"}
		in.Params.Text = provider.Clip(req.Prompt, maxTitanPrompt)
		in.Config.NumberOfImages, in.Config.Quality = 1, "standard"
		in.Config.Width, in.Config.Height, in.Config.Seed = size.width, size.height, seed(req, 1<<31-2)
		return json.Marshal(in)
	default:
		return nil, badInput("The provider has no image model %q.", req.Model)
	}
}

// seed derives a seed from the client token: a request that is submitted again, because the answer was lost, gets the
// same picture.
func seed(req provider.Request, most uint32) uint32 {
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
