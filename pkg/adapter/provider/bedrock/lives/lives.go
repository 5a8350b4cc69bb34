// Package lives reads the lives of the models of Amazon Bedrock: which are there, which are Legacy, and when they end.
package lives

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrock"
	"github.com/aws/aws-sdk-go-v2/service/bedrock/types"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// Read returns the lives of the models that Bedrock has in a region, by their ids.
func Read(ctx context.Context, cfg aws.Config) (map[string]provider.Life, error) {
	out, err := bedrock.NewFromConfig(cfg).ListFoundationModels(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("bedrock: list the models: %w", err)
	}
	lives := map[string]provider.Life{}
	for _, m := range out.ModelSummaries {
		life := provider.Life{}
		if l := m.ModelLifecycle; l != nil {
			life.Legacy = l.Status == types.FoundationModelLifecycleStatusLegacy
			life.End = aws.ToTime(l.EndOfLifeTime)
		}
		lives[aws.ToString(m.ModelId)] = life
	}
	return lives, nil
}
