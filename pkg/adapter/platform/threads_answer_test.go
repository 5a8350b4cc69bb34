package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
	fake "github.com/content-automation/api/testdata/platforms/threads"
)

// Each answer of the table is given once and always, by a platform that is healthy otherwise.
func TestAnswersOnThreads(t *testing.T) {
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe",
		Media: []platform.Media{fixture.Image("a")}}
	answers, sources := fake.Answers.Split()
	fixture.TryAll(t, "../../../testdata/platforms/threads/README.md", answers, sources,
		func(_ string, a control.Answer, always bool) fixture.Tried {
			return fixture.Try(t, newThreadsFixture, post, a, always)
		})
}
