package threads_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/fixture"
	fake "github.com/content-automation/api/testdata/platforms/threads"
)

// Each answer of the table is given once and always, by a platform that is healthy otherwise.
func TestAnswers(t *testing.T) {
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe",
		Media: []platform.Media{fixture.Image("a")}}
	answers, sources := fake.Answers.Split()
	fixture.Answers(t, "../../../../testdata/platforms/threads/README.md", answers, sources,
		func(_ string, a control.Answer, always bool) fixture.Answered {
			return fixture.Answer(t, newFixture, post, a, always)
		})
}
