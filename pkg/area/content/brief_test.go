package content_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/record/profile"
)

func TestABriefNamesTheWriterOfEachType(t *testing.T) {
	for _, kind := range []factory.Type{
		factory.Blogger, factory.Seller, factory.Expert, factory.Brand, factory.News, factory.Entertainment,
		factory.Musician,
	} {
		b, err := content.NewBrief(factory.Factory{Type: kind, Name: "Acme", Topics: []factory.Topic{"sea"}},
			profile.Legal{}, nil)
		if err != nil || !strings.HasPrefix(b.Voice, `The channel is "Acme", a`) ||
			strings.HasPrefix(b.Voice, `The channel is "Acme", a channel.`) ||
			!strings.Contains(b.Voice, "Its topics are sea.") || b.Type != string(kind) {
			t.Errorf("%s: %q, %v", kind, b.Voice, err)
		}
	}
}

// The days that media name are those of the schedule, or else of the country.
func TestABriefHasTheTimeZoneOfItsFactory(t *testing.T) {
	for want, f := range map[string]factory.Factory{
		"Europe/Paris": {Type: factory.Seller, Language: "fr", Schedule: &factory.Schedule{Timezone: "Europe/Paris"}},
		"Asia/Tokyo":   {Type: factory.Seller, Language: "ja-JP"},
		"":             {Type: factory.Seller, Language: "x"},
	} {
		if b, err := content.NewBrief(f, profile.Legal{}, nil); err != nil || b.Zone != want {
			t.Errorf("%q: %q, %v", want, b.Zone, err)
		}
	}
}
