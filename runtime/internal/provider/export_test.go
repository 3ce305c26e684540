package provider

import "context"

// Changed is what a notice of the guest does.
func (p *Provider) Changed(uri string) { p.watch.publish(context.Background(), uri) }
