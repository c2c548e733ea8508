"""Documents: JSON files that are read strictly and written whole, and models as what they hold; `decoding` reads those back."""
