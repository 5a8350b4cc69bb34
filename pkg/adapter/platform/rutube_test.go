package platform_test

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/rutube"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/rutube"
)

func newRuTubeFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter { return rutube.New(cfg) },
		func(f fixture.Fake) platform.Account {
			access, _ := f.(*fake.Fake).Grant(0)
			return platform.Account{ID: fake.Username, Token: platform.Token{Access: platform.Secret(access)}}
		},
	)
}

var rutubeVideo = platform.Post{Key: "pub_1", Kind: platform.KindVideo, Title: "A shoe", Caption: "It runs",
	Hashtags: []string{"shoes"}, Media: []platform.Media{fixture.Video("a", 9000)}}

func TestConformanceOnRuTube(t *testing.T) {
	fixture.Run(t, "rutube", platformtest.Suite{
		New: newRuTubeFixture,
		Posts: []platformtest.Named{
			{Name: "video", Post: rutubeVideo},
			{Name: "music clip", Post: platform.Post{Key: "pub_2", Kind: platform.KindMusicClip, Title: "A song",
				Media: []platform.Media{fixture.Video("b", 9000)}}},
		},
		Grant: func(*platformtest.Fixture) (platform.Grant, error) {
			return platform.Grant{Username: fake.Username, Password: fake.Password}, nil
		},
		BadGrants: []platform.Grant{{}, {Username: fake.Username}, {Username: fake.Username, Password: "wrong"}},
	})
}

func TestTheCategoryIsThatOfTheTopic(t *testing.T) {
	for topic, want := range map[platform.Topic]string{platform.TopicMusic: "| 6 |", platform.TopicNews: "| 13 |",
		"": "| 13 |"} {
		f := newRuTubeFixture()
		post := rutubeVideo
		post.Topic = topic
		_, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if posts := f.Fake.Posts(); err != nil || len(posts) != 1 || !strings.Contains(posts[0], want) {
			t.Errorf("%q: %q, %v, want the category %s", topic, posts, err, want)
		}
		f.Close()
	}
}

func TestAVideoThatFailsIsNotShown(t *testing.T) {
	f := newRuTubeFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Fails = true
	_, err := platformtest.Publish(t.Context(), f, f.Account, rutubeVideo)
	if platform.KindOf(err) != platform.BadContent || len(f.Fake.Posts()) != 0 || f.Fake.(*fake.Fake).Hidden() != 1 {
		t.Errorf("%v, with %d posts", err, len(f.Fake.Posts()))
	}
}

func TestALostFirstAnswerLeavesAHiddenVideoAlone(t *testing.T) {
	f := newRuTubeFixture()
	defer f.Close()
	f.Fake.Fail(1, platformtest.AnswerLost)
	done, err := platformtest.Publish(t.Context(), f, f.Account, rutubeVideo)
	if err != nil || !done.Done() || len(f.Fake.Posts()) != 1 || f.Fake.(*fake.Fake).Hidden() != 1 {
		t.Errorf("%+v, %v: %d posts and %d hidden videos", done, err, len(f.Fake.Posts()), f.Fake.(*fake.Fake).Hidden())
	}
}
