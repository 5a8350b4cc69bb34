package platform_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
)

func TestTheInboxGetsMediaAlone(t *testing.T) {
	for name, post := range map[string]platform.Post{"video": tiktokVideo, "photos": photos} {
		f := newTikTokFixture()
		post.Options = platform.Options{Own: tiktok.Options{Mode: "inbox", Consent: true}}
		progress, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if posts := f.Fake.Posts(); len(posts) != 1 || !strings.Contains(posts[0], "inbox") ||
			progress.Warning == nil || progress.Warning.Code != platform.FinishInApp || progress.Post.ID != "" {
			t.Errorf("%s: %v, %+v", name, posts, progress)
		}
		f.Close()
	}
}

func TestTheCreatorsChoicesAreRead(t *testing.T) {
	f := newTikTokFixture()
	defer f.Close()
	c, err := f.Adapter.(platform.CreatorReader).CreatorInfo(t.Context(), f.Account)
	if err != nil || c.Nickname != "Acme" || len(c.Privacies) != 3 || !c.Comments || !c.Duet || c.Stitch ||
		c.MaxVideoSeconds != 300 {
		t.Errorf("%+v, %v", c, err)
	}
}
