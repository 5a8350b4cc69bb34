package rutube_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/rutube"
)

func TestOptions(t *testing.T) {
	fixture.Options(t, newFixture, []fixture.Option{{Name: "category_id", Post: video,
		Own: rutube.Options{CategoryOption: platform.CategoryOption{CategoryID: "8"}}, Shows: "| 8 |"}}, nil, "privacy")
}
