package platform_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
	fake "github.com/content-automation/api/testdata/platforms/facebook"
)

// Each answer of the table is given once and always, by a platform that is healthy otherwise.
func TestAnswersOnFacebook(t *testing.T) {
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe",
		Media: []platform.Media{fixture.Image("a")}}
	reel := platform.Post{Key: "pub_2", Kind: platform.KindVideo, Caption: "It runs",
		Media: []platform.Media{fixture.Video("b", 9000)}}
	answers, sources := fake.Answers.Split()
	fixture.TryAll(t, "../../../testdata/platforms/facebook/README.md", answers, sources,
		func(name string, a control.Answer, always bool) fixture.Tried {
			if strings.HasPrefix(name, "Reel") || strings.HasPrefix(name, "upload") || strings.HasPrefix(name, "video") {
				return fixture.Try(t, newFacebookFixture, reel, a, always)
			}
			return fixture.Try(t, newFacebookFixture, post, a, always)
		})
}
