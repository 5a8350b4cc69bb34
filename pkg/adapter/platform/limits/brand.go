package limits

import "github.com/content-automation/api/pkg/adapter/platform"

// Plain are the kinds of content whose media may show no logo and no name of a brand, by
// platform.
var Plain = map[string][]platform.Kind{
	"tiktok": {platform.KindPost, platform.KindVideo, platform.KindCarousel, platform.KindMusicClip},
}
