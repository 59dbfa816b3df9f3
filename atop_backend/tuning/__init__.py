"""Personalising a network: training clips from a studio's articulated assets, and finetuning."""
