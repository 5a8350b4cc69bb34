package content

import (
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/record/profile"
)

// newBrief returns the brief of a factory.
func newBrief(f factory.Factory, legal profile.Legal) (item.Brief, error) {
	settings, err := f.Settings.MarshalJSON()
	if err != nil {
		return item.Brief{}, err
	}
	topics := make([]string, len(f.Topics))
	for i, t := range f.Topics {
		topics[i] = string(t)
	}
	return item.NewBrief(item.Factory{
		ID: f.ID, Region: legal.Country(), Name: f.Name, Type: string(f.Type), Description: string(f.Description),
		Audience: string(f.Audience), Tone: string(f.Tone),
		Topics: topics, Settings: settings, Models: f.Models, Replace: f.ReplaceRetiredModels,
		CaptionLine: f.AICaptionLine,
		Trained:     f.TrainedText(), Logo: f.Files.Logo,
		Intro: f.Files.Intro, Outro: f.Files.Outro,
		Sells: f.Type == factory.Seller,
	})
}
