package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/rutube"
)

func TestOptionsOnRuTube(t *testing.T) {
	fixture.Options(t, newRuTubeFixture, []fixture.Option{{Name: "category_id", Post: rutubeVideo,
		Own: rutube.Options{CategoryOption: platform.CategoryOption{CategoryID: "8"}}, Shows: "| 8 |"}}, nil, "privacy")
}
