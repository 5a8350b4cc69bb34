package item

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
)

// A training reads the texts of all items of a factory, also of those that know no shape.
func TestTextsOfItemsWithoutAShapeAreRead(t *testing.T) {
	for kind, task := range map[Kind]prompt.Task{Post: prompt.Post, Carousel: prompt.Carousel, Video: prompt.Script,
		Story: prompt.Story, MusicClip: prompt.Song} {
		r := &Record{Item: Item{Kind: kind, State: Generated, Texts: Texts{Title: "Shoe", Caption: "A new shoe."}}}
		r.Attempt.Parts = []part{{Part: generate.Part{Kind: provider.KindText}, Role: roleText}}
		asked, text, ok := r.WrittenTexts()
		if !ok || text.Caption != string(r.Item.Caption) || asked.PromptVersion != prompt.Version(task) ||
			asked.System == "" {
			t.Errorf("%s: %t %q %q", kind, ok, text.Caption, asked.PromptVersion)
		}
	}
}
